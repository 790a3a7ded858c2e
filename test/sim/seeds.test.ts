import { describe, expect, it } from 'vitest';
import type { Hasher } from '../../src/base/hasher.js';
import type { ClusterEvent } from '../../src/scenario/driver.js';
import { playSeed, runSeed, type SweepSubject } from '../../src/sim/seeds.js';
import { firstDifference, Trace, TraceDigest } from '../../src/sim/trace.js';
import { hasher, planOf } from './stage.js';

const LOAD = { origin: { synthetic: { messages: 200, size: 32, rate: 2_000 } } };

function scenario(
  extra: Record<string, unknown>,
  conditions: 'calm' | 'drawn' = 'calm',
): SweepSubject {
  return { kind: 'scenario', plan: planOf({ ...LOAD, ...extra }), conditions };
}

/** Waits for a term that no run reaches. */
const UNCOVERED = {
  faults: [{ kill: 'leader', when: { term: 99 }, within: '20ms' }],
  expect: { covered: ['kill'] },
};

async function traceOf(subject: SweepSubject, seed: number): Promise<Uint8Array> {
  const trace = new Trace();
  return trace.ended(await playSeed(subject, seed, hasher, trace));
}

const text = (trace: Uint8Array): string => new TextDecoder().decode(trace);

describe('sim: seeds: a scenario', () => {
  it('a fault that falls meets the cell of its target: kind, role, what it was doing', async () => {
    const gaps = [{ after: 100, count: 25_000 }];
    const subject = scenario({
      origin: { synthetic: { messages: 200, size: 32, rate: 2_000, gaps } },
      faults: [
        { stepDown: 'leader', when: { skipped: 10_000 } },
        { freeze: 'follower', at: '5ms', for: '20ms' },
        { dropConsumer: true, at: '8ms' },
      ],
    });
    const { seed, failure, cells } = await runSeed(subject, 5, hasher);
    expect({ seed, failure }).toEqual({ seed: 5, failure: null });
    expect(Object.keys(cells)).toEqual([
      'follower:idle:freeze',
      'cluster:idle:dropConsumer',
      'leader:skipping:stepDown',
    ]);
    expect(Object.values(cells)).toEqual([1, 1, 1]);
  });

  it('another seed -> other events; other conditions -> others again', async () => {
    const calm = text(await traceOf(scenario({}), 1));
    expect(text(await traceOf(scenario({}), 1)) === calm).toBe(true);
    expect(text(await traceOf(scenario({}), 2)) === calm).toBe(false);
    expect(text(await traceOf(scenario({}, 'drawn'), 1)) === calm).toBe(false);
  });

  it('what is expected and did not happen fails the seed, with the reason', async () => {
    const { failure } = await runSeed(scenario(UNCOVERED), 1, hasher);
    expect(failure).toEqual({
      verdict: 'uncovered',
      property: 'uncovered',
      text: expect.stringMatching(/kill.*term/) as string,
    });
  });
});

describe('sim: seeds: a failure is played again', () => {
  it('what does not come twice is a fault of lockstep, with the first differing event', async () => {
    let calls = 0n;
    const drifting: Hasher = { ...hasher, hash64: (bytes) => hasher.hash64(bytes, ++calls) };
    const { failure } = await runSeed(scenario(UNCOVERED), 1, drifting);
    expect(failure).toMatchObject({ verdict: 'harness', property: 'determinism' });
    expect(failure!.text).toMatch(/^not the same twice: event \d+ is \{.*\}, or \{.*\}; last draw/);
  });
});

describe('sim: seeds: traces', () => {
  const first: ClusterEvent = { kind: 'firstDelivery', atMs: 1 };
  const last: ClusterEvent = { kind: 'handedOut', atMs: 2 };
  const report = { seed: 1, failure: null, simulatedMs: 9, cells: {} };
  const outcome = '{"failure":null,"kind":"outcome","simulatedMs":9}';

  function trace(steps: readonly (ClusterEvent | readonly [string, number])[]): Uint8Array {
    const made = new Trace();
    for (const step of steps) {
      if ('kind' in step) made.onEvent(step);
      else made.onDraw(step[0], step[1]);
    }
    return made.ended(report);
  }

  it('one line an event, keys by name, with the draw before it; the outcome last', () => {
    expect(text(trace([['a', 1], ['a', 2], first, ['b/c', 3], last]))).toBe(
      [
        '{"atMs":1,"kind":"firstDelivery"}\ta #2 = 2',
        '{"atMs":2,"kind":"handedOut"}\tb/c #1 = 3',
        `${outcome}\tb/c #1 = 3`,
      ].join('\n'),
    );
  });

  it('the same -> no difference', () => {
    expect(firstDifference(trace([first, ['a', 1], last]), trace([first, ['a', 1], last]))).toBe(
      null,
    );
  });

  it('an event less -> what stands in its place, and the draw', () => {
    expect(firstDifference(trace([['a', 1], first, last]), trace([['a', 1], first]))).toBe(
      `event 2 is {"atMs":2,"kind":"handedOut"}, or ${outcome}; last draw before it: a #1 = 1`,
    );
  });

  it('the same events after other draws differ too', () => {
    expect(firstDifference(trace([['a', 1], first]), trace([['a', 2], first]))).toBe(
      'event 1 is {"atMs":1,"kind":"firstDelivery"}; last draw before it: a #1 = 1, or a #1 = 2',
    );
  });

  it('no draw before it', () => {
    expect(firstDifference(trace([first]), trace([last]))).toBe(
      'event 1 is {"atMs":1,"kind":"firstDelivery"}, or {"atMs":2,"kind":"handedOut"}; ' +
        'last draw before it: none',
    );
  });

  it('the digest is of events and outcome, not of draws', () => {
    const digest = (events: readonly ClusterEvent[], simulatedMs: number): string => {
      const made = new TraceDigest(hasher);
      for (const event of events) made.onEvent(event);
      return made.ended({ ...report, simulatedMs });
    };
    const both = digest([first, last], 9);
    expect(both).toMatch(/^[0-9a-f]{16}$/);
    expect(digest([first, last], 9)).toBe(both);
    expect(digest([last, first], 9)).not.toBe(both);
    expect(digest([first], 9)).not.toBe(both);
    expect(digest([first, last], 8)).not.toBe(both);
  });

  it('draws of links, members and start are seen, each under its label', async () => {
    const labels = new Set<string>();
    const onDraw = (label: string): unknown => labels.add(label.split('/')[0]!);
    await playSeed({ kind: 'drawn' }, 3, hasher, { onEvent: () => undefined, onDraw });
    expect([...labels].sort()).toEqual(expect.arrayContaining(['links', 'r1', 'start', 'swarm']));
  });
});
