import { describe, expect, it } from 'vitest';
import { flatnessOf, isFlat, type Flatness } from '../../soak/flat.js';
import { growthOf, renderPart } from '../../soak/report.js';
import { soakScenario } from '../../soak/faults.js';
import { planOf } from '../threads/stage.js';

const MiB = 1_048_576;
const NOTHING = { messages: 0, faults: 0 };

function rising(from: number, to: number): number[] {
  return Array.from({ length: 9 }, (_, at) => from + ((to - from) * at) / 8);
}

describe('soak: flat', () => {
  it('medians of the thirds: one sample in the middle of a fault decides nothing', () => {
    const values = [5, 1, 1, 9, 9, 9, 1, 1, 5];
    expect(flatnessOf('main Timeout', values, NOTHING)).toEqual({
      name: 'main Timeout',
      isBytes: false,
      first: 1,
      last: 1,
      most: 9,
    });
    expect(flatnessOf('main Timeout', values.slice(1), NOTHING)).toBeNull();
  });

  it.each<[name: string, grownBy: number, flat: boolean]>([
    ['main Timeout', 8, true],
    ['main Timeout', 9, false],
    ['process threads', 1, true],
    ['process threads', 2, false],
    ['replica 2 heapUsed', MiB, true],
    ['replica 2 heapUsed', MiB + 1, false],
    ['process resident', 3 * MiB, true],
    ['process resident', 3 * MiB + 1, false],
  ])('%s that grew by %d: %s', (name, grownBy, flat) => {
    const values = [10, 10, 10, 0, 0, 0, 10, 10, 10].map((each, at) =>
      /Timeout|threads/.test(name)
        ? 3 + (at > 5 ? grownBy : 0)
        : each * MiB + (at > 5 ? grownBy : 0),
    );
    expect(isFlat(flatnessOf(name, values, NOTHING)!)).toBe(flat);
  });

  it('what stores keep and what is reported may grow; a line a fault in main alone', () => {
    const most = (name: string): number =>
      flatnessOf(name, rising(0, 0), { messages: 1_000, faults: 10 })!.most;
    expect(most('replica 2 heapUsed')).toBe(MiB + 64_000);
    expect(most('main heapUsed')).toBe(MiB + 64_000 + 20_480);
    expect(most('process descriptors')).toBe(1);
  });
});

describe('soak: report', () => {
  const grown: Flatness = {
    ...{ name: 'origin 4 external', isBytes: true },
    ...{ first: MiB, last: 9 * MiB, most: 2 * MiB },
  };
  const flat: Flatness = { name: 'process threads', isBytes: false, first: 9, last: 9, most: 10 };

  it('what grew is a fault of lockstep; too few samples say nothing', () => {
    expect(growthOf([grown, flat], 9)).toEqual([
      {
        verdict: 'harness',
        text: 'origin 4 external grew from 1.00 MiB to 9.00 MiB, allowed 2.00 MiB',
      },
    ]);
    expect(growthOf([], 8)).toEqual([{ verdict: 'inconclusive', text: '8 samples, 9 wanted' }]);
  });

  it('what was played, which faults fell, what was measured, what is wrong', () => {
    const part = {
      title: 'one cluster of 5 replicas for 40 s',
      reasons: growthOf([grown], 9),
      messages: 4_000,
      elections: 1,
      longestStallMs: 1_500,
      struck: new Map([
        ['slow', 2],
        ['freeze (skipped)', 1],
      ]),
      measured: [grown, flat],
    };
    expect(renderPart(part).split('\n')).toEqual([
      'one cluster of 5 replicas for 40 s',
      '  4,000 messages compared, 1 election, longest stall 1.5 s',
      '  freeze (skipped) 1, slow 2',
      '',
      '                     first third  last third   at most',
      '  origin 4 external     1.00 MiB    9.00 MiB  2.00 MiB  grew',
      '  process threads              9           9        10',
      '',
      '  harness: origin 4 external grew from 1.00 MiB to 9.00 MiB, allowed 2.00 MiB',
      '',
    ]);
  });
});

describe('soak: scenarios', () => {
  it('a fault every 250 ms while there is a load; the last one ends a member where asked', () => {
    const shape = { forMs: 2_000, replicas: 5, ends: false };
    const lasting = planOf(soakScenario(1, shape)).faults;
    expect(lasting.map(({ trigger }) => trigger)).toEqual(
      [250, 500, 750, 1_000, 1_250, 1_500, 1_750, 2_000].map((atMs) => ({ kind: 'time', atMs })),
    );
    const ending = planOf(soakScenario(1, { ...shape, ends: true })).faults;
    expect(ending.map(({ action }) => action.kind)).toEqual([
      ...lasting.slice(0, -1).map(({ action }) => action.kind),
      'kill',
    ]);
  });
});
