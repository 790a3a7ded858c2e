import { execFile } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const EXAMPLE = 'mid-skip.test.ts';
/** Examples that the README shows, each behind a link to it. */
const SHOWN = [EXAMPLE, 'refused-skips.test.ts'];
const EXAMPLES = [...SHOWN, 'drawn-scenarios.test.ts', 'own-origin.test.ts'];

interface Report {
  readonly success: boolean;
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly {
      readonly title: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** A folder of a user: the example, and lockstep among the packages. */
let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join('dist', 'example-'));
  mkdirSync(join(dir, 'node_modules'));
  symlinkSync(resolve('.'), join(dir, 'node_modules', 'lockstep'));
  // Packages that a user of the examples has installed beside it.
  for (const name of ['vitest', 'fast-check']) {
    symlinkSync(resolve('node_modules', name), join(dir, 'node_modules', name));
  }
  for (const name of EXAMPLES) copyFileSync(join('examples', name), join(dir, name));
  // Else the configuration of this tree would be found.
  writeFileSync(join(dir, 'vitest.config.js'), 'export default {};');
});
afterEach(() => {
  rmSync(dir, { recursive: true });
});

/** Runs the example as its user would. */
async function play(
  environment: Readonly<Record<string, string>>,
  names: readonly string[] = [EXAMPLE],
): Promise<Report> {
  const vitest = resolve('node_modules/vitest/vitest.mjs');
  const { VITEST: _, VITEST_MODE: __, ...outer } = process.env;
  const call = run(process.execPath, [vitest, 'run', ...names, '--root', dir, '--reporter=json'], {
    env: { ...outer, ...environment },
  });
  const { stdout } = await call.catch((error: unknown) => error as { stdout: string });
  return JSON.parse(stdout) as Report;
}

describe('examples', () => {
  it.each(SHOWN)('the README shows %s as it is', (name) => {
    const readme = readFileSync('README.md', 'utf8');
    const [, after = ''] = readme.split(`(examples/${name})`);
    const shown = /```ts\n(.*?)```/s.exec(after)?.[1];
    expect(shown).toBe(readFileSync(join('examples', name), 'utf8'));
  });

  it.each(['sim', 'threads'])('runs and passes on %s', async (on) => {
    const { testResults } = await play({ LOCKSTEP_ON: on, LOCKSTEP_SEED: '7' });
    const [{ assertionResults } = { assertionResults: [] }] = testResults;
    expect(assertionResults.map(({ title, status }) => [title, status])).toEqual([
      ['a step-down in the middle of a skip loses nothing', 'passed'],
    ]);
  });

  it('all others run and pass', async () => {
    const { success, testResults } = await play({}, EXAMPLES.slice(1));
    expect(testResults.flatMap((file) => file.assertionResults).map(({ title }) => title)).toEqual(
      expect.arrayContaining([
        '3, range: what is refused is taken back',
        'whatever is drawn: every election has a term of its own',
        'orders of our own are mirrored through a kill',
      ]),
    );
    expect(success).toBe(true);
  });

  it('a test that fails: how to run it again, and where its events are', async () => {
    const lines = [
      "import { expect, test } from 'lockstep/vitest';",
      "test('ends', async ({ cluster }) => {",
      '  await cluster.caughtUp();',
      '  expect(1).toBe(2);',
      '});',
    ];
    writeFileSync(join(dir, 'fails.test.ts'), lines.join('\n'));
    const { testResults } = await play({ LOCKSTEP_ON: 'sim' }, ['fails.test.ts']);
    const [message] = testResults.flatMap(({ assertionResults }) =>
      assertionResults.flatMap(({ failureMessages }) => failureMessages),
    );
    expect(message).toContain('replay: LOCKSTEP_SEED=1 LOCKSTEP_ON=sim npx vitest run');
    expect(message).toContain('events: .lockstep/ends-sim-seed-1/events.ndjson');
  });

  it('says in one line what is wrong with the environment', async () => {
    const { success, testResults } = await play({ LOCKSTEP_ON: 'sims' });
    expect(success).toBe(false);
    expect(testResults.map(({ message }) => message)).toEqual([
      'LOCKSTEP_ON: "sims" is not one of threads, sim, nats; did you mean sim?',
    ]);
  });
});
