/**
 * Scenario files that are broken, given to the built command line: each has to be refused with exit
 * code 64 and one line, without output, trace or hang. `node scripts/fuzz.js 10000 [SEED]`.
 *
 * The command is loaded anew for each file, in this process: starting one takes longer than all of
 * its work. What is still a scenario after it was broken is left out, as it would be played.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import * as fc from 'fast-check';
import { parseScenario } from '../dist/src/scenario/parse.js';

const USAGE = 64;
const SLOW_MS = 10_000;
const MAIN = new URL('../dist/src/cli/main.js', import.meta.url).href;

const dir = mkdtempSync(join(tmpdir(), 'lockstep-fuzz-'));
const path = join(dir, 'broken.yaml');
const { stderr, stdout } = process;
stdout.setMaxListeners(0);
stderr.setMaxListeners(0);
// A command that has ended leaves a moment later, and would take this process with it.
process.exit = () => undefined;
let loads = 0;

const files = readdirSync('scenarios').filter((name) => name.endsWith('.yaml'));
const real = fc.constantFrom(...files.map((name) => readFileSync(join('scenarios', name), 'utf8')));
const piece = fc.oneof(
  fc.constantFrom(
    ...[
      '[',
      ']',
      '{',
      '}',
      ': ',
      '- ',
      '\n',
      '  ',
      '&a ',
      '*a',
      '!!x ',
      '|',
      '"',
      "'",
      '#',
      '---\n',
    ],
    ...[
      '\t',
      '\u0000',
      '\u2028',
      '<<: ',
      '.nan',
      '-1',
      '1e400',
      '99999999999999999999',
      '0x',
      'null',
    ],
    ...['leader', 'r9', '1s..0s', 'next:0', '../../etc/passwd', 'nats://u:p@h/S', '__proto__: '],
  ),
  fc.string({ unit: 'binary', maxLength: 12 }),
);
const edit = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  remove: fc.nat(20),
  insert: fc.option(piece, { nil: '' }),
});
const broken = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(real, fc.array(edit, { minLength: 1, maxLength: 4 })).map(edited),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 300 }) },
  { weight: 1, arbitrary: fc.json({ maxDepth: 4 }) },
);

function edited([text, edits]) {
  return edits.reduce((whole, { at, remove, insert }) => {
    const from = Math.floor(at * whole.length);
    return whole.slice(0, from) + insert + whole.slice(from + remove);
  }, text);
}

/** What is wrong with how the command took it; null: nothing. */
async function faultOf(text) {
  if (isScenario(text)) return null;
  writeFileSync(path, text);
  const said = { out: '', err: '' };
  const [write, complain] = [stdout.write, stderr.write];
  stdout.write = (chunk) => (said.out += chunk) !== '';
  stderr.write = (chunk) => (said.err += chunk) !== '';
  process.argv = [process.argv[0], 'lockstep', 'run', path, '--on', 'sim'];
  process.exitCode = 0;
  const startedAt = performance.now();
  let thrown = null;
  try {
    await import(`${MAIN}?${(loads += 1)}`);
  } catch (error) {
    thrown = error;
  } finally {
    stdout.write = write;
    stderr.write = complain;
  }
  const code = process.exitCode;
  process.exitCode = 0;
  if (thrown !== null) return `it threw: ${thrown.stack}`;
  if (code !== USAGE) return `exit code ${code}`;
  if (said.out !== '') return `it printed: ${said.out}`;
  if (!/^lockstep: [^\n]+\n$/.test(said.err)) return `not one line: ${said.err}`;
  return performance.now() - startedAt > SLOW_MS ? 'it took more than 10 s' : null;
}

/** What throws something else than it should is for the command to show. */
function isScenario(text) {
  try {
    parseScenario(text, 'broken.yaml', (name) => readFileSync(name, 'utf8'));
    return true;
  } catch {
    return false;
  }
}

const [runs = '10000', seed = '1'] = process.argv.slice(2);
const property = fc.asyncProperty(broken, async (text) => {
  const fault = await faultOf(text);
  if (fault !== null) throw new Error(fault);
});
const options = { numRuns: Number(runs), seed: Number(seed) };
const { failed, counterexample, errorInstance } = await fc.check(property, options);
rmSync(dir, { recursive: true });
if (failed) {
  console.log(`${errorInstance?.message}\nwith this file:\n${counterexample?.[0]}`);
  process.exitCode = 1;
} else {
  console.log(`${loads} of ${runs} files were broken: each refused in one line, exit ${USAGE}`);
}
