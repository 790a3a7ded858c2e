import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { runSeed } from '../../src/sim/seeds.js';
import { seedsOf, sweep, type SweepOptions } from '../../src/sim/sweep.js';
import type { SeedReport } from '../../src/verdict/sweep.js';
import { hasher } from './stage.js';

const DRAWN = { kind: 'drawn' } as const;

async function swept(
  seeds: Iterable<number>,
  options: Partial<SweepOptions> = {},
): Promise<SeedReport[]> {
  const reports: SeedReport[] = [];
  const onReport = (report: SeedReport): boolean => reports.push(report) > 0;
  await sweep({ subject: DRAWN, cores: 2, seeds, onReport, ...options });
  return reports;
}

/** What a play of nothing comes to. */
function held(seed: number): SeedReport {
  return { seed, failure: null, simulatedMs: 1, cells: {} };
}

function worker(name: string): URL {
  return new URL(`workers/${name}.js`, import.meta.url);
}

const upTo = (last: number): Generator<number> => seedsOf(1, last, null);

describe('sim: sweep: seeds', () => {
  it('reports come in the order of the seeds, the same as here, on any number of cores', async () => {
    const here: SeedReport[] = [];
    for (let seed = 5; seed < 11; seed++) here.push(await runSeed(DRAWN, seed, hasher));
    expect(await swept(seedsOf(5, 6, null))).toEqual(here);
    expect(await swept(seedsOf(5, 6, null), { cores: 1 })).toEqual(here);
  });

  it('enough was seen -> no report comes after that one', async () => {
    const seen: number[] = [];
    await swept(seedsOf(1, null, null), {
      worker: worker('broken'),
      onReport: ({ seed }) => seen.push(seed) < 7,
    });
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it('enough was seen while another seed ends -> its answer disturbs nobody', async () => {
    const script = 'test/sim/workers/ended-early.mjs';
    const ended = await promisify(execFile)(process.execPath, [script]);
    expect(ended).toEqual({ stdout: '', stderr: '' });
  });

  it('a signal that came before -> nothing is played', async () => {
    expect(await swept(upTo(10), { signal: AbortSignal.abort() })).toEqual([]);
  });

  it('a signal gives up what is under way; what has ended behind it is reported', async () => {
    const abort = new AbortController();
    const seeds = function* (): Generator<number> {
      yield* upTo(9);
      abort.abort();
    };
    const reports = await swept(seeds(), { signal: abort.signal, worker: worker('endless') });
    expect(reports).toEqual([2, 3, 4, 5, 6, 7, 8, 9].map(held));
  });

  it('of a shard every nth seed, of all shards each seed once', () => {
    expect([...seedsOf(7, 3, null)]).toEqual([7, 8, 9]);
    expect([...seedsOf(1, 10, { index: 3, of: 4 })]).toEqual([3, 7]);
    const all = [1, 2, 3].flatMap((index) => [...seedsOf(5, 11, { index, of: 3 })]);
    expect(all.sort((a, b) => a - b)).toEqual([...seedsOf(5, 11, null)]);
  });
});

describe('sim: sweep: a worker that ends is a fault of lockstep', () => {
  it('the seed that it ends on is named, alone; its neighbours and later ones are played', async () => {
    const reports = await swept(upTo(24), { worker: worker('broken'), heapMb: 24 });
    const failed = reports.filter(({ failure }) => failure !== null);
    expect(failed).toEqual([
      {
        ...held(13),
        simulatedMs: 0,
        failure: {
          verdict: 'harness',
          property: 'worker',
          text: expect.stringMatching(/^its worker ended: .*exit/) as string,
        },
      },
      {
        ...held(21),
        simulatedMs: 0,
        failure: {
          verdict: 'harness',
          property: 'worker',
          text: expect.stringMatching(/^its worker ended: .*memory/) as string,
        },
      },
    ]);
    expect(reports.map(({ seed }) => seed)).toEqual([...upTo(24)]);
    expect(reports.filter(({ failure }) => failure === null)).toEqual(
      [...upTo(24)].filter((seed) => seed !== 13 && seed !== 21).map(held),
    );
  });

  it('it ends behind others, and not alone -> a fault all the same, which says so', async () => {
    const reports = await swept(seedsOf(29, 4, null), { worker: worker('broken'), cores: 1 });
    expect(reports.map(({ seed, failure }) => [seed, failure?.property])).toEqual([
      [29, undefined],
      [30, undefined],
      [31, 'worker'],
      [32, undefined],
    ]);
    expect(reports[2]!.failure!.text).toMatch(
      /^its worker ended: .*exit.*, but not when played alone$/,
    );
  });
});

describe('sim: sweep: determinism', () => {
  it('every seed is played twice; held seeds are the same both times', async () => {
    const reports = await swept(seedsOf(3, 3, null), { checkDeterminism: true });
    expect(reports.map(({ seed, failure }) => [seed, failure])).toEqual([
      [3, null],
      [4, null],
      [5, null],
    ]);
  });

  it('a seed that depends on those before it -> its first differing event and draw', async () => {
    const drifting = worker('drifting');
    const reports = await swept(upTo(4), { checkDeterminism: true, cores: 1, worker: drifting });
    const failed = reports.filter(({ failure }) => failure !== null);
    const event = (atMs: number): string => `{"atMs":${atMs},"kind":"handedOut"}`;
    const draw = (value: number): string => `links/r1 to r2/delay #2 = ${value}`;
    expect(failed).toEqual([
      {
        ...held(3),
        simulatedMs: 2,
        failure: {
          verdict: 'harness',
          property: 'determinism',
          text:
            `not the same twice: event 2 is ${event(2)}, or ${event(1)}; ` +
            `last draw before it: ${draw(2)}, or ${draw(1)}`,
        },
      },
    ]);
  });
});
