/**
 * What is published, tried as a new user would: packed, installed beside vitest in an empty folder,
 * the tests of the README compile, under both ways to resolve a package, and run. Then each mutant
 * of nats-server pull request 8152 is put into the installed build: the tests must fail, and the
 * command that they print must fail alike.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { PULL_8152_MUTANTS } from '../dist/mutants/pull-8152.js';

const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const VITEST = `vitest@${devDependencies.vitest}`;
/** The test that mutants must fail, and how the README calls what it shows. */
const SHOWN = { 'mid-skip.test.ts': 'mid-skip', 'refused-skips.test.ts': 'refused-skips' };
const KILLS = 'refused-skips.test.ts';
/** Of TypeScript: `module`, and `moduleResolution`. */
const RESOLUTIONS = [
  ['nodenext', 'nodenext'],
  ['esnext', 'bundler'],
];
const STEP_LIMIT_MS = 300_000;

const dir = mkdtempSync(join(tmpdir(), 'lockstep-packed-'));
try {
  process.exitCode = main();
} finally {
  rmSync(dir, { recursive: true, force: true });
}

function main() {
  install();
  for (const name of Object.keys(SHOWN)) writeFileSync(join(dir, name), shownIn('README.md', name));
  for (const [module, way] of RESOLUTIONS) {
    const typed = tsc(module, way);
    if (typed.status !== 0) return failed(`the tests do not compile under ${way}`, typed.output);
  }
  const whole = vitest([]);
  if (whole.status !== 0) return failed('the tests of the README fail as they are', whole.output);
  console.log(`as packed: ${Object.keys(SHOWN).length} test files of the README pass`);
  const left = PULL_8152_MUTANTS.filter((mutant) => !isKilled(mutant));
  console.log(`${PULL_8152_MUTANTS.length - left.length} of ${PULL_8152_MUTANTS.length} killed`);
  return left.length === 0 ? 0 : 1;
}

function install() {
  const packed = run('npm', ['pack', '--silent', '--pack-destination', dir], process.cwd());
  if (packed.status !== 0) throw new Error(packed.output);
  const [tarball] = packed.output.trim().split('\n').slice(-1);
  writeFileSync(join(dir, 'package.json'), '{ "private": true, "type": "module" }\n');
  const installed = run('npm', ['i', '-D', VITEST, `./${tarball}`, '--no-audit', '--no-fund'], dir);
  if (installed.status !== 0) throw new Error(installed.output);
}

/** The block of TypeScript behind a link to the example of that name. */
function shownIn(readme, name) {
  const text = readFileSync(readme, 'utf8');
  const after = text.slice(text.indexOf(`(examples/${name})`));
  const block = /```ts\n(.*?)```/s.exec(after)?.[1];
  if (!text.includes(`(examples/${name})`) || block === undefined) {
    throw new Error(`${readme} shows no ${name}`);
  }
  return block;
}

/** The installed build, mutated for as long as it takes. */
function isKilled({ id, title, edits }) {
  const dist = join(dir, 'node_modules', 'lockstep', 'dist');
  const kept = join(dir, 'kept');
  cpSync(dist, kept, { recursive: true });
  try {
    for (const { file, find, replace } of edits) edit(join(dist, file), find, replace);
    return isSeen(`${id}: ${title}`);
  } finally {
    cpSync(kept, dist, { recursive: true, force: true });
  }
}

function isSeen(what) {
  const { status, output } = vitest([KILLS]);
  if (status === 0) return seen(what, 'survived', output);
  const command = /^LOCKSTEP_SEED=.*npx vitest run .*$/m.exec(output)?.[0];
  if (command === undefined) return seen(what, 'failed without a command to run again', output);
  const again = run('sh', ['-c', command], dir);
  if (again.status === 0) return seen(what, `held when run again by: ${command}`, again.output);
  if (findingIn(again.output) !== findingIn(output)) {
    return seen(what, `came to something else by: ${command}`, `${output}\n${again.output}`);
  }
  const replay = /^replay: (npx lockstep .*)$/m.exec(output)?.[1];
  if (replay === undefined || run('sh', ['-c', replay], dir).status === 0) {
    return seen(what, `held when replayed by: ${replay}`, output);
  }
  console.log(`killed   ${what}\n         ${findingIn(output)}`);
  return true;
}

/** What failed, and under which seed. */
function findingIn(output) {
  return /^seed \d+: .*$/m.exec(output)?.[0];
}

function seen(what, how, output) {
  console.log(`${how}: ${what}\n${output}`);
  return false;
}

function edit(path, find, replace) {
  const text = readFileSync(path, 'utf8');
  if (text.split(find).length !== 2) throw new Error(`${path} has this not exactly once: ${find}`);
  writeFileSync(
    path,
    text.replace(find, () => replace),
  );
}

function tsc(module, moduleResolution) {
  const flags = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2022'];
  const ways = ['--module', module, '--moduleResolution', moduleResolution];
  const words = [resolve('node_modules/typescript/bin/tsc'), ...flags, ...ways];
  return run(process.execPath, [...words, ...Object.keys(SHOWN)], dir);
}

function vitest(words) {
  return run(
    process.execPath,
    [resolve(dir, 'node_modules/vitest/vitest.mjs'), 'run', ...words],
    dir,
  );
}

function run(command, words, cwd) {
  const { VITEST: _, ...environment } = process.env;
  const env = { ...environment, NO_COLOR: '1', CI: 'true' };
  const options = { cwd, env, encoding: 'utf8', timeout: STEP_LIMIT_MS, maxBuffer: 64 << 20 };
  const { status, stdout, stderr, error } = spawnSync(command, words, options);
  if (error !== undefined) return { status: 1, output: `${error.message}\n${stdout}${stderr}` };
  return { status, output: status === 0 ? stdout : `${stdout}${stderr}` };
}

function failed(what, output) {
  console.log(`${what}\n${output}`);
  return 1;
}
