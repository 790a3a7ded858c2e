/** When a stall is excused, and by what. */
import { describe, expect, it } from 'vitest';
import { excuseOf, type StallStanding, type Standing } from '../../src/sim/excuse.js';

/** A log by its terms, from index 1 on. */
function logOf(...terms: number[]): Standing['log'] {
  return { lastIndex: terms.length, termAt: (index) => terms[index - 1] };
}

/** Three members, all linked, all well; entry 2 of term 1 is committed and on two of them. */
function standing(
  changes: readonly Partial<Standing>[] = [],
  whole: Partial<StallStanding> = {},
): StallStanding {
  const logs = [logOf(1, 1), logOf(1, 1), logOf(1)];
  const members = logs.map((log, at) => {
    const well = { reachable: true, wiped: false, linked: [0, 1, 2], log };
    return { ...well, ...changes[at] };
  });
  const committed = { index: 2, term: 1 };
  return { members, committed, preVote: true, checkQuorum: true, ...whole };
}

const AWAY = { reachable: false, linked: [] };
const WIPED = { reachable: false, wiped: true, linked: [] };

describe('sim: excuse', () => {
  it('a majority that is well and holds what was committed owes progress', () => {
    expect(excuseOf(standing())).toBeNull();
    expect(excuseOf(standing([AWAY]))).toBeNull();
    expect(excuseOf(standing([WIPED, {}, {}]))).toBeNull();
    expect(excuseOf(standing([], { committed: null }))).toBeNull();
  });

  it('no quorum reachable: too few, or not linked with each other', () => {
    expect(excuseOf(standing([AWAY, AWAY]))).toBe('no quorum reachable');
    const alone = [{ linked: [0] }, { linked: [1] }, { linked: [2] }];
    expect(excuseOf(standing(alone))).toBe('no quorum reachable');
    expect(excuseOf(standing([WIPED, AWAY, AWAY]))).toBe('no quorum reachable');
  });

  it('votes forgotten: with those that lost their disks it were a majority', () => {
    const linked = [0, 1, 2];
    expect(
      excuseOf(
        standing([
          { ...WIPED, linked },
          { ...WIPED, linked },
        ]),
      ),
    ).toBe('votes forgotten');
    const running = { reachable: true, wiped: true };
    expect(excuseOf(standing([running, running]))).toBe('votes forgotten');
  });

  it('log held by nobody alive: only those that are away or wiped hold what was committed', () => {
    const only = [{ ...AWAY }, { log: logOf(1) }, { log: logOf(1, 2) }];
    expect(excuseOf(standing(only))).toBe('log held by nobody alive');
    expect(excuseOf(standing([{ ...WIPED }, { log: logOf(1) }]))).toBe('log held by nobody alive');
  });

  it('un-synced tail lost everywhere: no disk at all holds it', () => {
    const lost = [{ log: logOf(1) }, { log: logOf(1) }];
    expect(excuseOf(standing(lost))).toBe('un-synced tail lost everywhere');
  });

  it('pre-vote or check-quorum off: outsiders may depose any leader', () => {
    const off = 'pre-vote or check-quorum off';
    expect(excuseOf(standing([AWAY], { preVote: false }))).toBe(off);
    expect(excuseOf(standing([AWAY], { checkQuorum: false }))).toBe(off);
    expect(excuseOf(standing([], { preVote: false, checkQuorum: false }))).toBeNull();
    expect(excuseOf(standing([AWAY, AWAY], { preVote: false }))).toBe('no quorum reachable');
  });
});
