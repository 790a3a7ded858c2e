import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { scenario } from '../../src/scenario/builder.js';
import { SharedCores } from '../../src/vitest/cores.js';
import { askedOf } from '../../src/vitest/environment.js';
import { test } from '../../src/vitest/index.js';
import { planSweep, sweepTest, type SweepOptions } from '../../src/vitest/sweep.js';

const SMALL = scenario('a leader steps down', {
  origin: { synthetic: { messages: 200, size: 8 } },
  faults: [{ stepDown: 'leader', when: { applied: 100 } }],
});
/** A frozen leader is missed for longer. */
const STRICT = scenario('a leader freezes, and nothing may stand still', {
  replicas: 3,
  origin: { synthetic: { messages: 250, size: 8, rate: 1_000, gaps: [{ after: 5, count: 40 }] } },
  faults: [
    { slow: 'follower', at: '10ms', for: '20ms' },
    { freeze: 'leader', when: { applied: 100 }, for: '200ms' },
    { repeatDeliveries: 'origin', at: '200ms' },
  ],
  expect: { stallAtMost: '20ms' },
});

describe('vitest: test.sweep', () => {
  test.sweep('a scenario that holds', SMALL, { seeds: 3, cores: 1 });
  test.sweep('drawn runs', 'drawn', { seeds: 2, cores: 1, seed: 5 });

  it('a scenario that fails: what, where, the least of it, commands and files', async (context) => {
    const plan = planSweep(STRICT, { seeds: 4, cores: 1 }, askedOf({}));
    const failed: unknown = await sweepTest(plan, context).catch((error: unknown) => error);
    const lines = (failed as Error).message.split('\n');
    expect(lines[0]).toBe('stalled: 1 seed, 1 failed');
    expect(lines[1]).toMatch(/^seed 1: stalled: nothing moved for \d+ ms, allowed are 20 ms$/);
    expect(lines[2]).toMatch(/^shrunk from 3 faults to 1 after \d+ candidates: nothing moved/);
    const script = lines.slice(3, -3).map((line) => line.slice(2));
    const least = parse(script.join('\n')) as typeof STRICT;
    expect(least).toMatchObject({ seed: 1, faults: [{ freeze: 'leader' }] });
    expect(least.origin.synthetic).toMatchObject({ size: 8, rate: 1_000 });
    expect(least.origin.synthetic?.gaps).toBe(undefined);
    const path = '.lockstep/a-leader-freezes-and-nothing-may-stand-still/replay-stalled-1';
    expect(lines.slice(-3)).toEqual([
      "LOCKSTEP_SEED=1 LOCKSTEP_ON=sim npx vitest run test/vitest/sweep.test.ts -t '^vitest: " +
        'test\\.sweep a scenario that fails: what, where, the least of it, commands and files$' +
        "'",
      `replay: npx lockstep run ${path}.yaml --on sim`,
      `artifacts in .lockstep: ${path}.yaml, ${path}.ndjson`,
    ]);
    expect(parse(readFileSync(`${path}.yaml`, 'utf8'))).toEqual(least);
    expect(readFileSync(`${path}.ndjson`, 'utf8')).toContain('"kind":"firstDelivery"');
    const { annotations, artifacts } = context.task;
    expect(annotations.map(({ message, type }) => [message, type])).toEqual([
      [`replay: npx lockstep run ${path}.yaml --on sim`, 'error'],
    ]);
    expect(artifacts).toMatchObject([{ type: 'lockstep:run', driver: 'sim', seed: 1 }]);
  }, 60_000);

  it('cells that have to be met and were not', async (context) => {
    const options = { seeds: 2, cores: 1, mustHit: ['candidate:*:stepDown'] };
    const plan = planSweep(SMALL, options, askedOf({}));
    const failed: unknown = await sweepTest(plan, context).catch((error: unknown) => error);
    expect((failed as Error).message.split('\n')).toEqual([
      'uncovered: 2 seeds, 0 failed',
      expect.stringMatching(/^uncovered: candidate:\*:stepDown.*leader:/),
      expect.stringMatching(/^LOCKSTEP_SEED=1 LOCKSTEP_SEEDS=2 LOCKSTEP_ON=sim npx vitest run /),
    ]);
  });

  it('shares the cores of the run of vitest', () => {
    const { shared } = planSweep(SMALL, { cores: 1 }, askedOf({})).request;
    expect(shared).toBeInstanceOf(SharedCores);
  });

  const asked = (options: SweepOptions, environment = {}): unknown => {
    const { request, timeoutMs, shrinkMs } = planSweep(SMALL, options, askedOf(environment));
    const { first, seeds, timeLimitMs } = request.asked;
    return { first, seeds, timeLimitMs, timeoutMs, shrinkMs };
  };
  it.each<[SweepOptions, Record<string, string>, unknown]>([
    [{}, {}, { first: 1, seeds: 100, timeLimitMs: null, timeoutMs: 600_000, shrinkMs: 30_000 }],
    [{ seeds: 7, seed: 3, shrink: '1m' }, {}, { first: 3, seeds: 7, shrinkMs: 60_000 }],
    [{ timeLimit: '5m' }, {}, { seeds: null, timeLimitMs: 300_000, timeoutMs: 390_000 }],
    [{ timeout: '5s', shrink: false }, {}, { timeoutMs: 5_000, shrinkMs: null }],
    [{ seeds: 7 }, { LOCKSTEP_SEED: '9' }, { first: 9, seeds: 1 }],
    [{ seeds: 7 }, { LOCKSTEP_SEED: '9', LOCKSTEP_SEEDS: '4' }, { first: 9, seeds: 4 }],
    [{ timeLimit: '5m' }, { LOCKSTEP_TIME_LIMIT: '1s' }, { seeds: null, timeLimitMs: 1_000 }],
  ])('%j under %j', (options, environment, expected) => {
    expect(asked(options, environment)).toMatchObject(expected as object);
  });

  it.each<[unknown, SweepOptions, string]>([
    ['nofile.yaml', {}, 'scenario: nofile.yaml: no such file'],
    [7, {}, 'test.sweep: takes a scenario, the path of one, or drawn'],
    [{ ...SMALL, replicas: 2 }, {}, 'test.sweep: replicas: 2 is not one of 1, 3, 5, 7'],
    [SMALL, { mustHit: ['leader:kil'] }, 'mustHit: "leader:kil"'],
    [
      SMALL,
      { sedes: 3 } as object,
      'test.sweep: "sedes" is not a known option; did you mean seeds?',
    ],
    [SMALL, { seeds: 0 }, 'seeds: 0 is not a whole number from 1 to 2^53-1'],
    [SMALL, { cores: 0 }, 'cores: 0 is not a whole number from 1 to 256'],
    [SMALL, { timeLimit: '5' }, 'timeLimit: "5" is not a duration with its unit'],
    [SMALL, { shrink: '0s' }, 'shrink: "0s" is not a duration above zero'],
  ])('refused: %j, %j', (of, options, text) => {
    expect(() => planSweep(of as string, options, askedOf({}))).toThrow(text);
  });
});
