/** Times that are drawn, and faults that strike again. */
import { describe, expect, it } from 'vitest';
import { planOf, refusedPlan } from './stage.js';

const UNPACED = { origin: { synthetic: { messages: 10 } } };

describe('triggers: drawn', () => {
  const times = (seed: number, faults: readonly object[]): unknown[] =>
    planOf({ ...UNPACED, seed, faults }).faults.map(({ trigger }) =>
      trigger.kind === 'time' ? trigger.atMs : trigger,
    );

  it('within the range, from the seed, by the name of the fault', () => {
    const drawn = { kill: 'leader', at: '100ms..200ms' };
    const [one] = times(1, [drawn]) as [number];
    expect(one).toBeGreaterThanOrEqual(100);
    expect(one).toBeLessThanOrEqual(200);
    expect(times(1, [drawn])).toEqual([one]);
    expect(times(2, [drawn])).not.toEqual([one]);
    const other = { dropConsumer: true, at: '1ms..900ms' };
    expect(times(1, [drawn, other])[0]).toBe(one);
    expect(times(1, [other, { ...drawn, id: 'faults[0]#own' }])[1]).not.toBe(one);
  });
});

describe('triggers: repeated', () => {
  it('each stroke waits until the one before it was decided', () => {
    const fault = { id: 'f', flap: 'leader', when: { term: 2 }, every: '50ms', repeat: 3 };
    const { faults } = planOf({ ...UNPACED, faults: [fault] });
    expect(faults.map(({ id, trigger }) => [id, trigger])).toEqual([
      ['f', { kind: 'state', state: { kind: 'term', term: 2 }, withinMs: 30_000 }],
      ['f#2', { kind: 'after', fault: 'f', delayMs: 50, settled: true }],
      ['f#3', { kind: 'after', fault: 'f#2', delayMs: 50, settled: true }],
    ]);
  });

  it('as long after each other as drawn', () => {
    const fault = { flap: 'leader', at: '1s', every: '10ms..20ms', repeat: 4 };
    const delays = planOf({ ...UNPACED, faults: [fault] }).faults.flatMap(({ trigger }) =>
      trigger.kind === 'after' ? [trigger.delayMs] : [],
    );
    expect(delays).toHaveLength(3);
    expect(new Set(delays).size).toBe(3);
    expect(delays.every((ms) => ms >= 10 && ms <= 20)).toBe(true);
  });

  it('another fault may wait for a stroke', () => {
    const fault = { id: 'f', flap: 'leader', at: '1s', every: '10ms', repeat: 2 };
    const { faults } = planOf({ ...UNPACED, faults: [fault, { kill: 'r1', after: 'f#2' }] });
    expect(faults.map(({ id }) => id)).toEqual(['f', 'f#2', 'faults[1]']);
  });

  it('a thousand strokes of many faults are planned at once', () => {
    const fault = { flap: 'leader', at: '1s', every: '10ms', repeat: 1_000 };
    const faults = Array.from({ length: 10 }, () => fault);
    expect(planOf({ ...UNPACED, faults }).faults).toHaveLength(10_000);
    expect(refusedPlan({ ...UNPACED, faults: [...faults, fault] })).toBe(
      'test: faults[10]: "fault 11000" is not within the 10000 of a scenario, repetitions counted',
    );
  });

  it.each<[object, string]>([
    [{ every: '1s' }, '.every: "1s" is not used with repeat'],
    [{ repeat: 2 }, '.repeat: 2 is not used with every'],
    [{ every: '1s', repeat: 1 }, '.repeat: 1 is not a whole number from 2 to 1000'],
    [
      { every: 'soon', repeat: 2 },
      '.every: "soon" is not a duration with its unit, such as 250ms or 2s',
    ],
    [
      // The load of this one ends after 2 s.
      { every: '600ms', repeat: 3 },
      '.every: "2200ms" is not before the last message, which comes at 2s',
    ],
  ])('refused: %j', (again, message) => {
    const fault = { flap: 'leader', at: '1s', ...again };
    expect(refusedPlan({ faults: [fault] })).toBe(`test: faults[0]${message}`);
  });
});
