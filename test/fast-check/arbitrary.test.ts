import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { pinnedScenarios, scenarioArbitrary, type DrawnKind } from '../../src/fast-check/index.js';
import { planScenario } from '../../src/scenario/parse.js';
import type { Scenario } from '../../src/scenario/schema.js';
import { simDriver } from '../../src/sim/driver.js';
import { play } from '../../src/scenario/play.js';
import { hasher } from '../sim/stage.js';

const noFile = (): never => {
  throw new Error('no file is needed');
};
const RUNS = { numRuns: 300, seed: 1 };

/** What a failing property comes to once it is shrunk. */
function least(
  arbitrary: fc.Arbitrary<Scenario>,
  fails: (drawn: Scenario) => boolean,
): Scenario | undefined {
  const run = fc.check(
    fc.property(arbitrary, (drawn) => !fails(drawn)),
    RUNS,
  );
  return run.counterexample?.[0];
}

describe('fast-check: scenarios', () => {
  it('every one is valid, and all that is asked for is drawn', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(scenarioArbitrary(), (drawn) => {
        planScenario(drawn, 'drawn', noFile);
        seen.add(`${String(drawn.replicas)} replicas`).add(String(drawn.mirror?.skip));
        for (const fault of drawn.faults ?? []) seen.add(Object.keys(fault)[0]!);
        if (drawn.origin.synthetic?.gaps !== undefined) seen.add('gaps');
      }),
      { ...RUNS, numRuns: 1_000 },
    );
    expect([...seen].sort()).toEqual(
      [
        ...['1 replicas', '3 replicas', '5 replicas', 'entries', 'range', 'gaps'],
        ...['stepDown', 'flap', 'kill', 'failWrites', 'freeze', 'slow', 'failPropose'],
        ...['partition', 'link', 'dropConsumer', 'refuseOpening', 'loseDeliveries'],
        ...['repeatDeliveries', 'stallOrigin', 'originDelete', 'originPurge', 'originExpire'],
      ].sort(),
    );
  });

  it('within what is asked for', () => {
    const kinds: DrawnKind[] = ['stepDown', 'kill'];
    const options = { replicas: [5] as const, kinds, faultsMax: 2, messagesMax: 30, gapMax: 7 };
    const fields = { name: 'mine', expect: { covered: ['kill' as const] } };
    fc.assert(
      fc.property(scenarioArbitrary({ ...options, fields }), (drawn) => {
        const { synthetic } = drawn.origin;
        expect(drawn).toMatchObject({ replicas: 5, ...fields });
        expect(synthetic?.messages).toBeLessThanOrEqual(30);
        for (const { count } of synthetic?.gaps ?? []) expect(count).toBeLessThanOrEqual(7);
        expect(drawn.faults?.length ?? 0).toBeLessThanOrEqual(2);
        for (const fault of drawn.faults ?? []) expect(kinds).toContain(Object.keys(fault)[0]);
      }),
      RUNS,
    );
    expect(fc.sample(scenarioArbitrary({ kinds: [] }), RUNS).every(({ faults }) => !faults)).toBe(
      true,
    );
  });

  it('shrunk: no fault, gap or replica and no message that it does not take', () => {
    expect(least(scenarioArbitrary(), () => true)).toEqual({
      version: 1,
      name: 'drawn',
      seed: 0,
      replicas: 1,
      mirror: { skip: 'entries' },
      origin: { synthetic: { messages: 1, size: 0, rate: 1_000 } },
      expect: { stallAtMost: '10s' },
    });
    const freezes = ({ replicas, faults = [] }: Scenario): boolean =>
      replicas === 3 && faults.some(({ freeze }) => freeze !== undefined);
    expect(least(scenarioArbitrary(), freezes)).toMatchObject({
      replicas: 3,
      origin: { synthetic: { messages: 1, size: 0 } },
      faults: [{ freeze: 'leader', for: '1ms', at: '0ms' }],
    });
  });

  it('played: what is drawn holds', async () => {
    await fc.assert(
      fc.asyncProperty(scenarioArbitrary({ gapMax: 600 }), async (drawn) => {
        const plan = planScenario(drawn, 'drawn', noFile);
        const { summary } = await play(plan, { driver: simDriver, hasher, replay: '' });
        expect(summary.verdict).toBe('held');
      }),
      { numRuns: 30, seed: 1 },
    );
  });

  it.each([
    [{ kinds: ['kil'] }, 'kinds: "kil" is not a kind of fault; did you mean kill?'],
    [{ kinds: ['originRecreate'] }, '"originRecreate" is not a kind of fault that comes out'],
    [
      { faultMax: 3 },
      'scenarioArbitrary: "faultMax" is not a known option; did you mean faultsMax?',
    ],
    [{ replicas: [3, 2] }, 'scenarioArbitrary: replicas: 2 is not one of 1, 3, 5, 7'],
    [{ replicas: [] }, 'replicas: an empty list is not a list of sizes of a cluster'],
    [{ fields: { name: '' } }, 'scenarioArbitrary: name: "" is not text of at least one letter'],
    [{ messagesMax: 0 }, 'messagesMax: 0 is not a whole number from 1'],
    [{ gapMax: 0 }, 'gapMax: 0 is not a whole number from 1'],
    [{ faultsMax: -1 }, 'faultsMax: -1 is not a whole number from 0 to 100'],
  ])('refused: %j', (options, text) => {
    expect(() => scenarioArbitrary(options as object)).toThrow(text);
  });
});

describe('fast-check: pinned scenarios', () => {
  const dir = mkdtempSync(join(tmpdir(), 'lockstep-pinned-'));
  afterAll(() => rmSync(dir, { recursive: true }));
  const file = (name: string, text: string): void => writeFileSync(join(dir, name), text);
  const text = (name: string): string =>
    `{ version: 1, name: ${name}, origin: { synthetic: { messages: 5 } } }`;

  it('those of a folder run before anything is drawn, by name', () => {
    file('b.yaml', text('two'));
    file('a.yml', text('one'));
    file('notes.txt', 'not a scenario');
    const pinned = pinnedScenarios(dir);
    expect(pinned.map(([{ name }]) => name)).toEqual(['one', 'two']);
    const seen: string[] = [];
    fc.assert(
      fc.property(scenarioArbitrary(), ({ name }) => void seen.push(name)),
      { numRuns: 3, seed: 1, examples: pinned },
    );
    expect(seen).toEqual(['one', 'two', 'drawn']);
  });

  it('refused: no folder, a file that is no scenario', () => {
    expect(() => pinnedScenarios(join(dir, 'none'))).toThrow(/is not a folder of scenarios/);
    file('c.yaml', 'version: 2');
    expect(() => pinnedScenarios(dir)).toThrow(/c\.yaml:1: version/);
  });
});
