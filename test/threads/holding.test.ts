/** Faults that keep a thread from answering: their end, the end of the run, and what is called late. */
import { describe, expect, it } from 'vitest';
import { playDecided } from '../../conformance/decided.js';
import { playOnThreads, type Played } from './stage.js';

const SMALL = { synthetic: { messages: 2_000 } };
/** Long before any of the faults is over, and long after a busy machine is through. */
const SOON_MS = 50_000;
const PACED = { synthetic: { messages: 2_000, rate: 2_000 } };

describe('a member that does not answer', () => {
  it('frozen beyond the end of the run: judged all the same, at once', async () => {
    const startedMs = performance.now();
    const freeze = { freeze: 'r3', when: { applied: 1 }, for: '5m' };
    const { summary, reasons } = await playOnThreads({
      origin: SMALL,
      faults: [freeze],
      timeLimit: '5s',
    });
    expect(reasons.filter(({ verdict }) => verdict === 'harness')).toEqual([]);
    expect(summary.replicas.map(({ id }) => id)).toEqual(['r1', 'r2', 'r3']);
    expect(performance.now() - startedMs).toBeLessThan(SOON_MS);
  });

  it('frozen beyond the time limit: the limit holds', async () => {
    const { summary, reasons } = await playOnThreads({
      origin: PACED,
      faults: [{ freeze: 'r3', at: '50ms', for: '5m' }],
      timeLimit: '1500ms',
    });
    expect(reasons.map(({ verdict }) => verdict)).toEqual(['inconclusive']);
    expect(summary.elapsedMs).toBeLessThan(SOON_MS);
  });

  it('a state is given up while a member sleeps: nobody waits for what that one saw', async () => {
    const { summary, reasons } = await playOnThreads({
      origin: PACED,
      faults: [
        { freeze: 'r3', at: '50ms', for: '700ms' },
        { stepDown: 'leader', when: { skipped: 9 }, within: '100ms' },
      ],
    });
    expect(reasons).toEqual([]);
    expect(summary.faults.map(({ status }) => status)).toEqual(['installed', 'uncovered']);
  });

  it('slow for a while, by more than that: no turn outlasts it', async () => {
    const { summary, reasons } = await playOnThreads({
      origin: PACED,
      faults: [{ slow: 'r3', at: '50ms', by: '5m', for: '100ms' }],
    });
    expect(reasons).toEqual([]);
    expect(summary.elapsedMs).toBeLessThan(SOON_MS);
  });
});

it('a step-down of a slot that follows waits until it leads; a demanded one is no more than that', async () => {
  const { summary, events } = await playOnThreads({
    origin: PACED,
    faults: [{ stepDown: 'r3', when: { applied: 10 } }],
    expect: { covered: ['stepDown'] },
  });
  const led = events.some(
    (event) =>
      event.kind === 'replica' &&
      event.slot === 'r3' &&
      event.event.kind === 'role' &&
      event.event.role === 'leader',
  );
  expect(summary.verdict).toBe(led ? 'held' : 'uncovered');
}, 30_000);

it('a freeze explains that its member is late: a stall stays a stall', async () => {
  const faults = [
    { freeze: 'leader', at: '100ms', for: '1500ms' },
    { freeze: 'follower', when: { applied: 10 }, for: '1200ms' },
  ];
  const played = await playDecided(
    () => playOnThreads({ origin: PACED, faults, replicas: 5 }),
    (each) => {
      const { others } = lateIn(each);
      return others.length === 0 ? null : { why: `${others.join()} late as well`, tries: 3 };
    },
  );
  expect(lateIn(played)).toEqual({ frozen: [], others: [] });
});

/** Who was called late by more than a second: of those that a fault froze, and of the others. */
function lateIn({ events }: Played): { readonly frozen: string[]; readonly others: string[] } {
  const struck = new Set(events.map((event) => (event.kind === 'fault' ? event.slot : null)));
  const late = events.flatMap((event) =>
    event.kind === 'late' && event.byMs > 1_000 ? [event.who] : [],
  );
  return {
    frozen: late.filter((who) => struck.has(who)),
    others: late.filter((who) => !struck.has(who)),
  };
}
