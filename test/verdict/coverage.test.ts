import { describe, expect, it } from 'vitest';
import { faultCellOf, isInstant, PHASES } from '../../src/base/cells.js';
import { missedText } from '../../src/report/coverage.js';
import { judgeGates, type Gate } from '../../src/verdict/coverage.js';

const CELLS = {
  'excused: votes forgotten': 9,
  'follower:idle:kill': 7,
  'leader:@elected:kill': 2,
  'leader:idle:kill': 5,
  'leader:skipping:freeze': 3,
};

function gate(mustHit: string): Gate {
  return judgeGates([mustHit], CELLS)[0]!;
}

describe('verdict: coverage', () => {
  it('cells of faults are told from what else is counted', () => {
    expect(Object.keys(CELLS).map(faultCellOf)).toEqual([
      null,
      { role: 'follower', phase: 'idle', kind: 'kill' },
      { role: 'leader', phase: '@elected', kind: 'kill' },
      { role: 'leader', phase: 'idle', kind: 'kill' },
      { role: 'leader', phase: 'skipping', kind: 'freeze' },
    ]);
    const cells = Object.keys(CELLS).flatMap((name) => faultCellOf(name) ?? []);
    expect(cells.map(isInstant)).toEqual([false, true, false, false]);
  });

  it('no phase of a role is listed twice', () => {
    for (const phases of Object.values(PHASES)) expect(new Set(phases).size).toBe(phases.length);
  });

  it('a gate counts every cell that it fits, no fault twice', () => {
    expect(['leader:idle:kill', '*:idle:kill', 'leader:*:*', '*:*:*'].map(gate)).toEqual([
      { mustHit: 'leader:idle:kill', times: 5, nearest: null },
      { mustHit: '*:idle:kill', times: 12, nearest: null },
      { mustHit: 'leader:*:*', times: 8, nearest: null },
      { mustHit: '*:*:*', times: 15, nearest: null },
    ]);
  });

  it.each([
    // The same fault on the same role, in the phase met most often.
    ['leader:skipping:kill', 'leader:idle:kill', 5],
    // On another role sooner than another fault.
    ['candidate:voting:kill', 'follower:idle:kill', 7],
    ['leader:skipping:flap', 'leader:skipping:freeze', 3],
    ['follower:*:freeze', 'leader:skipping:freeze', 3],
  ])('missed: %s -> nearest is %s', (mustHit, cell, times) => {
    expect(gate(mustHit)).toEqual({ mustHit, times: 0, nearest: { cell, times } });
  });

  it('says in a line what was missed', () => {
    const nearest = { cell: 'leader:idle:kill', times: 1 };
    const missed = { mustHit: 'leader:skipping:kill', times: 0 };
    expect(missedText({ ...missed, nearest })).toBe(
      'leader:skipping:kill was not met; nearest is leader:idle:kill, met once',
    );
    const [none] = judgeGates(['leader:skipping:kill'], { 'torn write dropped': 1 });
    expect(missedText(none!)).toBe('leader:skipping:kill was not met; no fault fell at all');
  });
});
