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

function unchecked(
  verdict: 'harness' | 'inconclusive',
  text: string,
  rest: Partial<PlayResult>,
): PlayResult {
  return { ...summed({ verdict }), reasons: [{ verdict, text }], ...rest };
}

function sided(result: PlayResult, not: boolean) {
  return not ? expect(result).not : expect(result);
}

function textOf(assertion: () => void): string {
  try {
    assertion();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it did not fail');
}

function orNull(assertion: () => void): string | null {
  try {
    assertion();
  } catch (error) {
    return (error as Error).message;
  }
  return null;
}

type Ask = (result: PlayResult, not: boolean) => void;
/** Each matcher, or what it denies. */
const ASKED: Readonly<Record<string, Ask>> = {
  toHaveHeld: (result, not) => sided(result, not).toHaveHeld(),
  toHoldRaftInvariants: (result, not) => sided(result, not).toHoldRaftInvariants(),
  toHaveLostNothing: (result, not) => sided(result, not).toHaveLostNothing(),
  toMirrorExactly: (result, not) => sided(result, not).toMirrorExactly(),
  toRecoverWithin: (result, not) => sided(result, not).toRecoverWithin('1s'),
  toHaveElected: (result, not) => sided(result, not).toHaveElected({ times: 2 }),
};

const LOST = { kind: 'lost', replica: 'r2', seq: 1_204, text: 'it holds a gap there' } as const;
const { messages, replicas, faults } = GOOD.summary;
const [fault] = faults;
const COPIES = 'toHaveLostNothing, toMirrorExactly, toRecoverWithin';
const BROKEN = unchecked('harness', 'worker r2 is gone', { comparedInMs: null });
const CUT = unchecked('inconclusive', 'ended by a signal', { cutShort: true });
const UNANSWERED = unchecked('inconclusive', 'no answer', { comparedInMs: null });
const BUSY = unchecked('inconclusive', 'machine too busy', {});
const [first, ...others] = replicas;
const BEHIND = summed({ verdict: 'stalled', replicas: [{ ...first!, last: 400 }, ...others] });

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
    expect({ ...GOOD, differences: [{ ...LOST, kind: 'corrupt' }] }).toHaveLostNothing();
  });

  it('toMirrorExactly: other content, and a replica that is behind', () => {
    const corrupt: PlayResult = { ...GOOD, differences: [{ ...LOST, kind: 'corrupt' }] };
    expect(textOf(() => expect(corrupt).toMirrorExactly())).toContain('corrupt at 1,204 on r2');
    const behind = summed({ replicas: [{ ...first!, last: 400 }, ...others] });
    expect(textOf(() => expect(behind).toMirrorExactly())).toContain(
      '  behind on r1: ends at 400 of 501\n',
    );
    expect(summed({ messages: { ...messages, phantom: 1 } })).not.toMirrorExactly();
  });

  it('toRecoverWithin: a stall, a fault that took long, none at all, one that never ended', () => {
    expect(textOf(() => expect(summed({ stallMs: 1_200 })).toRecoverWithin('1s'))).toContain(
      '  nothing moved for 1.2 s, allowed are 1 s\n',
    );
    const slow = summed({ faults: [{ ...fault!, target: 'r2', caughtUpMs: 1_500 }] });
    expect(textOf(() => expect(slow).toRecoverWithin('1s'))).toContain(
      '  stepDown on r2: caught up after 1.5 s, allowed are 1 s\n',
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
      `  elected were: ${told.join(', ')}; expected: r9\n`,
    );
    expect(textOf(() => expect(GOOD).toHaveElected({ times: 1 }))).toContain(
      '; expected: 1 election\n',
    );
    expect(textOf(() => expect(GOOD).toHaveElected({ leader: 'r1', atLeast: 3 }))).toContain(
      '; expected: r1, at least 3 elections\n',
    );
    expect(GOOD).not.toHaveElected({ times: 1 });
    expect(GOOD).not.toHaveElected({ times: 3 });
    expect(GOOD).not.toHaveElected({ atLeast: 3 });
    expect({ ...GOOD, timeline: { ...GOOD.timeline, leaders: [] } }).not.toHaveElected();
  });

  it.each<[string, PlayResult, string, string]>([
    ['lockstep failed', BROKEN, 'all', '  harness: worker r2 is gone\n'],
    ['a signal came', CUT, 'all', '  inconclusive: ended by a signal\n'],
    ['no answer in time', UNANSWERED, 'all', '  inconclusive: no answer\n'],
    ['too busy', BUSY, 'toHaveHeld, toRecoverWithin', '  inconclusive: machine too busy\n'],
    ['stalled', BEHIND, 'toHaveLostNothing', '  behind on r1: ends at 400 of 501\n'],
    ['nobody left', summed({ replicas: [] }), COPIES, '  no replica was compared\n'],
    ['not all read', { ...GOOD, complete: false }, COPIES, '  the comparison was not finished\n'],
    [
      'content unknown',
      summed({ messages: { ...messages, unknown: 2 } }),
      COPIES,
      '  2 messages not',
    ],
  ])('what was not checked fails, with `not` too: %s', (_, result, which, line) => {
    const told = Object.entries(ASKED)
      .filter(([, ask]) => {
        const texts = [false, true].map((not) => orNull(() => ask(result, not)));
        return texts.every((text) => text?.includes('it cannot be told') && text.includes(line));
      })
      .map(([name]) => name);
    expect(told).toEqual(which === 'all' ? Object.keys(ASKED) : which.split(', '));
  });

  it('toHaveElected of a run that was ended: what was seen stays true', () => {
    expect(CUT).toHaveElected();
    expect(CUT).toHaveElected({ atLeast: 2 });
    expect(CUT).not.toHaveElected({ times: 1 });
    expect(textOf(() => expect(CUT).toHaveElected({ times: 2 }))).toContain('it cannot be told');
    expect(textOf(() => expect(CUT).not.toHaveElected({ atLeast: 3 }))).toContain('cannot be told');
  });

  it('what speaks against it does so however the run ended', () => {
    expect({ ...CUT, differences: [LOST] }).not.toHaveLostNothing();
    const at = { property: 'log matching', slot: 'r1', seq: 7, text: 'entry 7 differs' };
    expect({ ...BROKEN, violations: [at] }).not.toHoldRaftInvariants();
  });

  it('an uncovered run was played and compared: only the verdict fails', () => {
    const reasons = [{ verdict: 'uncovered', text: 'kill never happened' }] as const;
    const uncovered = { ...summed({ verdict: 'uncovered' }), reasons };
    const failed = Object.entries(ASKED)
      .filter(([, ask]) => orNull(() => ask(uncovered, false)) !== null)
      .map(([name]) => name);
    expect(failed).toEqual(['toHaveHeld']);
    expect(uncovered).not.toHaveHeld();
  });

  it('toMatchLedger: an origin that handed out nothing says nothing of what was received', async () => {
    await using cluster = await startCluster({ on: 'sim' });
    const nothing = { ...(await cluster.ledger.report()), delivered: [] };
    const ledger = { ...cluster.ledger, report: () => Promise.resolve(nothing) };
    const text = 'toMatchLedger: it cannot be told\n  nothing was handed out';
    await expect(expect([]).toMatchLedger(ledger)).rejects.toThrow(text);
    await expect(expect([]).not.toMatchLedger(ledger)).rejects.toThrow(text);
    await expect([]).toMatchLedger([]);
  });

  it('slips: what they compare with, and options that they do not know', async () => {
    const elected = { leaders: 'r1' } as object;
    expect(textOf(() => expect(GOOD).toHaveElected(elected))).toBe(
      'toHaveElected: "leaders" is not a known option; did you mean leader?',
    );
    const matched = (ledger: unknown, options: object): Promise<void> =>
      expect([{ seq: 1 }]).toMatchLedger(ledger as [], options);
    await expect(matched({}, {})).rejects.toThrow('toMatchLedger compares with cluster.ledger');
    await expect(matched([], { duplicate: 'allowed' })).rejects.toThrow(
      'toMatchLedger: "duplicate" is not a known option; did you mean duplicates?',
    );
    await expect(matched([], { duplicates: true })).rejects.toThrow(
      'toMatchLedger: duplicates: true is not the word allowed',
    );
  });

  it('takes the result of a play or a cluster, and nothing else', () => {
    const other = (): void => {
      expect({ summary: {} }).toHaveHeld();
    };
    expect(textOf(other)).toBe('toHaveHeld takes the result of a play, or a cluster');
  });
});
