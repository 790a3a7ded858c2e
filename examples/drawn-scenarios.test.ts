import * as fc from 'fast-check';
import { loadHasher, planScenario, play, simDriver, type Scenario } from 'lockstep';
import { pinnedScenarios, scenarioArbitrary } from 'lockstep/fast-check';
import { expect, test } from 'lockstep/vitest';

const hasher = await loadHasher();
const noFile = (): never => expect.fail('no file is needed');

test('whatever is drawn: every election has a term of its own', { timeout: 60_000 }, () =>
  fc.assert(
    fc.asyncProperty(scenarioArbitrary({ faultsMax: 3 }), async (drawn: Scenario) => {
      const plan = planScenario(drawn, 'drawn', noFile);
      const result = await play(plan, { driver: simDriver, hasher, replay: '' });
      expect(result).toHaveHeld();
      expect(result.summary.leadership.lastTerm).toBeGreaterThanOrEqual(
        result.summary.leadership.elections,
      );
    }),
    // Files of this folder run first: what was found once is looked at again every time.
    { numRuns: 20, seed: 1, examples: pinnedScenarios('examples/regressions') },
  ),
);
