import { describe, expect, it } from 'vitest';
import { startCluster } from '../../src/kit/cluster.js';
import type { PlayResult } from '../../src/scenario/run.js';
import '../../src/vitest/matchers.js';

const GOOD = await played();

async function played(): Promise<PlayResult> {
  await using cluster = await startCluster({
    on: 'sim',
    seed: 3,
    origin: { synthetic: { messages: 500, size: 32 } },
    replay: 'npx vitest run here',
  });
  await cluster.when({ applied: 200 }).stepDown('leader', { to: 'none' });
  return await cluster.verify();
}

/** The good run with something else in its summary. */
function summed(change: Partial<PlayResult['summary']>): PlayResult {
  return { ...GOOD, summary: { ...GOOD.summary, ...change } };
}

function textOf(assertion: () => void): string {
  try {
    assertion();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it did not fail');
}

const LOST = { kind: 'lost', replica: 'r2', seq: 1_204, text: 'it holds a gap there' } as const;
const { messages, replicas, faults } = GOOD.summary;
const [fault] = faults;

describe('vitest: matchers', () => {
  it('a good run passes all of them', () => {
    expect(GOOD).toHaveHeld();
    expect(GOOD).toHoldRaftInvariants();
    expect(GOOD).toHaveLostNothing();
    expect(GOOD).toMirrorExactly();
    expect(GOOD).toRecoverWithin('1s');
    expect(GOOD).toHaveElected();
    expect(GOOD).toHaveElected({ times: 2 });
    expect(GOOD).toHaveElected({ leader: GOOD.timeline.leaders[0]!.slot });
  });

  it('a failing one says property, replica, sequence, reasons, seed and replay', () => {
    const bad: PlayResult = {
      ...summed({ verdict: 'violated', messages: { ...messages, lost: 1 } }),
      differences: [LOST],
      reasons: [{ verdict: 'violated', text: 'lost at 1204 on r2: it holds a gap there' }],
    };
    const reason = '  violated: lost at 1204 on r2: it holds a gap there';
    const end = ['replay: npx vitest run here'];
    expect(textOf(() => expect(bad).toHaveLostNothing()).split('\n')).toEqual([
      'toHaveLostNothing: failed',
      '  1 message lost',
      '  lost at 1,204 on r2: it holds a gap there',
      'on sim, seed 3: violated',
      reason,
      ...end,
    ]);
    expect(textOf(() => expect(bad).toHaveHeld()).split('\n')).toEqual([
      'toHaveHeld: failed',
      reason,
      'on sim, seed 3: violated',
      ...end,
    ]);
    expect(bad).not.toMirrorExactly();
  });

  it('toHoldRaftInvariants: a broken property, and two leaders in one term', () => {
    const at = { property: 'log matching', slot: 'r1', seq: 1_500, text: 'entry 7 differs' };
    const text = textOf(() => expect({ ...GOOD, violations: [at] }).toHoldRaftInvariants());
    expect(text).toContain('  log matching on r1 at 1,500: entry 7 differs\n');
    const leaders = ['r1', 'r3', 'r1'].map((slot) => ({ slot, term: 4, fromMs: 0, toMs: null }));
    const two = { ...GOOD, timeline: { ...GOOD.timeline, leaders } };
    expect(textOf(() => expect(two).toHoldRaftInvariants())).toContain(
      '  election safety on r3: r1 led in term 4, too\n',
    );
  });

  it('toHaveLostNothing: what was not compared is not known to be there', () => {
    const unknown = summed({ messages: { ...messages, unknown: 2 } });
    expect(textOf(() => expect(unknown).toHaveLostNothing())).toContain('2 messages not compared');
    expect({ ...GOOD, comparedInMs: null }).not.toHaveLostNothing();
    expect(summed({ replicas: [] })).not.toHaveLostNothing();
    expect({ ...GOOD, differences: [{ ...LOST, kind: 'corrupt' }] }).toHaveLostNothing();
  });

  it('toMirrorExactly: other content, and a replica that is behind', () => {
    const corrupt: PlayResult = { ...GOOD, differences: [{ ...LOST, kind: 'corrupt' }] };
    expect(textOf(() => expect(corrupt).toMirrorExactly())).toContain('corrupt at 1,204 on r2');
    const [first, ...others] = replicas;
    const behind = summed({ replicas: [{ ...first!, last: 400 }, ...others] });
    expect(textOf(() => expect(behind).toMirrorExactly())).toContain(
      '  behind on r1: ends at 400 of 501\n',
    );
    expect(summed({ messages: { ...messages, phantom: 1 } })).not.toMirrorExactly();
    expect(summed({ replicas: [] })).not.toMirrorExactly();
  });

  it('toRecoverWithin: a stall, a fault that took long, none at all, one that never ended', () => {
    expect(textOf(() => expect(summed({ stallMs: 1_200 })).toRecoverWithin('1s'))).toContain(
      '  nothing moved for 1.2 s\n',
    );
    const slow = summed({ faults: [{ ...fault!, target: 'r2', caughtUpMs: 1_500 }] });
    expect(textOf(() => expect(slow).toRecoverWithin('1s'))).toContain(
      '  stepDown on r2: caught up after 1.5 s\n',
    );
    expect(slow).toRecoverWithin('1500ms');
    expect(textOf(() => expect(summed({ faults: [] })).toRecoverWithin('1s'))).toContain(
      'no fault was installed',
    );
    const open = { faults: [{ ...fault!, caughtUpMs: null, firstMessageMs: null }] };
    expect(summed(open)).toRecoverWithin('1s');
    const behind = replicas.map((state) => ({ ...state, last: 1 }));
    expect(summed({ ...open, replicas: behind })).not.toRecoverWithin('1s');
  });

  it('toHaveElected: others, fewer and more than that', () => {
    const told = GOOD.timeline.leaders.map(({ slot, term }) => `${slot} in term ${term}`);
    expect(textOf(() => expect(GOOD).toHaveElected({ leader: 'r9' }))).toContain(
      `  elected were: ${told.join(', ')}\n`,
    );
    expect(GOOD).not.toHaveElected({ times: 1 });
    expect(GOOD).not.toHaveElected({ times: 3 });
    expect(GOOD).not.toHaveElected({ atLeast: 3 });
    expect({ ...GOOD, timeline: { ...GOOD.timeline, leaders: [] } }).not.toHaveElected();
  });

  it('takes the result of a play or a cluster, and nothing else', () => {
    const other = (): void => {
      expect({ summary: {} }).toHaveHeld();
    };
    expect(textOf(other)).toBe('toHaveHeld takes the result of a play, or a cluster');
  });
});
