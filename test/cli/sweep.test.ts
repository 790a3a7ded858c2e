/** The built `lockstep sweep` and `lockstep merge` as a user meets them. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { replaySeed } from '../../src/cli/sweep-request.js';
import { drawSwarm } from '../../src/sim/swarm.js';
import type { SweepSummary } from '../../src/verdict/sweep.js';
import { lockstep } from './stage.js';

const dir = mkdtempSync(join(tmpdir(), 'lockstep-sweep-'));
afterAll(() => rmSync(dir, { recursive: true }));

function scenarioFile(name: string, lines: readonly string[]): string {
  const file = join(dir, `${name}.yaml`);
  const load = 'origin: { synthetic: { messages: 200, size: 32, rate: 2000 } }';
  writeFileSync(file, ['version: 1', `name: ${name}`, load, ...lines, ''].join('\n'));
  return file;
}

const HELD = scenarioFile('held', ['faults: [{ stepDown: leader, at: 10ms }]']);
const UNCOVERED = scenarioFile('uncovered', [
  'faults: [{ kill: leader, when: { term: 99 }, within: 20ms }]',
  'expect: { covered: [kill] }',
]);
/** A new leader takes longer than nothing may move. */
const STALLED = scenarioFile('stalled', [
  'election: timers',
  'faults: [{ kill: leader, at: 10ms }]',
  'expect: { stallAtMost: 50ms }',
]);

const BAD: readonly (readonly [what: string, args: readonly string[], says: RegExp])[] = [
  ['no end, and no scenario', ['nofile.yaml'], /nofile\.yaml: no such file/],
  ['no end', [], /give --seeds, --time-limit or --until-plateau/],
  ['no seeds', ['--seeds', '0'], /--seeds: "0" is not a whole number from 1/],
  ['a last seed above 2^53-1', ['--seeds', '3', '--seed', '9007199254740990'], /--seed.*2\^53/],
  ['no unit', ['--time-limit', '5'], /--time-limit: "5" is not a duration/],
  ['no plateau', ['--until-plateau', '0'], /--until-plateau: "0"/],
  ['no cores', ['--seeds', '1', '--cores', '0'], /--cores: "0"/],
  ['no shard', ['--seeds', '9', '--shard', '3'], /--shard: "3" is not a shard such as 3\/16/],
  ['a shard beyond the last', ['--seeds', '9', '--shard', '4/3'], /--shard: "4\/3"/],
  ['more shards than seeds', ['--seeds', '2', '--shard', '1/3'], /--shard.*at most 2 shards/],
  ['conditions of drawn runs', ['--seeds', '1', '--conditions', 'calm'], /only for a scenario/],
  ['unknown conditions', [HELD, '--seeds', '1', '--conditions', 'icy'], /icy/],
  ['a focus of a scenario', [HELD, '--seeds', '1', '--focus', 'logs'], /--focus: only for drawn/],
  ['an unknown focus', ['--seeds', '1', '--focus', 'gaps'], /mixed, skips, elections, logs/],
  ['no cell', ['--seeds', '1', '--must-hit', 'kill'], /--must-hit: "kill" is not a role, a phase/],
  [
    'a slip',
    ['--seeds', '1', '--must-hit', 'leader:skiping:kill'],
    /a phase of leader.*skipping\?/,
  ],
  ['another fault', [HELD, '--seeds', '1', '--must-hit', '*:*:kill'], /"kill" is not a fault of/],
  ['an instant', [HELD, '--seeds', '1', '--must-hit', '*:@voted:stepDown'], /"@voted" is not a/],
  ['scaling without seeds', ['--time-limit', '1s', '--scaling'], /--scaling: give --seeds/],
  ['a scenario that is missing', ['no.yaml', '--seeds', '1'], /no\.yaml.*no such file/],
  ['a report where none can be', ['--seeds', '1', '--junit', 'no/a.xml'], /--junit: no\/a\.xml/],
  ['a directory that is a file', ['--seeds', '1', '--out-dir', HELD], /--out-dir: .*held\.yaml/],
];

describe('command line: sweep', () => {
  it.concurrent.each(BAD)('refused in one line: %s', async (_, args, says) => {
    const { code, stdout, stderr } = await lockstep(['sweep', ...args]);
    expect({ code, stdout, lines: stderr.split('\n').length }).toEqual({
      code: 64,
      stdout: '',
      lines: 2,
    });
    expect(stderr).toMatch(says);
  });

  it('--json: exactly the fields of a summary', async () => {
    const { code, stdout } = await lockstep(['sweep', '--seeds', '3', '--seed', '4', '--json']);
    expect(code).toBe(0);
    const summary = JSON.parse(stdout) as SweepSummary;
    expect(Object.keys(summary)).toEqual([
      ...['schema', 'verdict', 'seeds', 'failed', 'seedsPerSecond', 'simulatedSeconds'],
      ...['wallSeconds', 'timesRealTime', 'coverage', 'gates', 'ended', 'asked'],
    ]);
    const { verdict, seeds, failed, ended, asked } = summary;
    expect({ verdict, seeds, failed, ended }).toEqual({
      verdict: 'held',
      seeds: 3,
      failed: [],
      ended: 'seeds',
    });
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(asked).toEqual({
      version,
      scenario: null,
      conditions: 'drawn',
      beyondQuorum: false,
      focus: null,
      checkDeterminism: false,
      first: 4,
      seeds: 3,
      untilPlateau: null,
      timeLimitMs: null,
      mustHit: [],
      shard: null,
    });
  });

  it('--focus: what a seed draws leans to that, and shards agree on it', async () => {
    const focus = ['--focus', 'elections'];
    const { code, stdout } = await lockstep(['sweep', '--seeds', '1', ...focus, '--json']);
    const { asked, drawn } = JSON.parse(stdout) as SweepSummary & { readonly drawn: unknown };
    expect([code, asked.focus]).toEqual([0, 'elections']);
    expect(drawn).toEqual(drawSwarm(1, { focus: 'elections' }));
    expect(replaySeed(asked, 7)).toBe('lockstep sweep --focus elections --seeds 1 --seed 7');
  });

  it('a scenario: each seed plays it, calm or on drawn conditions', async () => {
    const args = ['sweep', HELD, '--seeds', '3', '--conditions', 'drawn', '--check-determinism'];
    const { code, stdout } = await lockstep([...args, '--json']);
    expect(code).toBe(0);
    const { seeds, coverage, asked } = JSON.parse(stdout) as SweepSummary;
    expect(seeds).toBe(3);
    expect(Object.keys(coverage).every((cell) => /^leader:\w+:stepDown$/.test(cell))).toBe(true);
    expect(asked).toMatchObject({ scenario: HELD, conditions: 'drawn', checkDeterminism: true });
  });

  it('ends at the first finding, with its replay, its events and a JUnit report', async () => {
    const out = join(dir, 'out');
    const junit = join(dir, 'junit.xml');
    const files = ['--junit', junit, '--out-dir', out];
    const args = ['sweep', STALLED, '--seeds', '9', '--seed', '5', ...files, '--json'];
    const { code, stdout } = await lockstep(args);
    expect(code).toBe(3);
    const summary = JSON.parse(stdout) as SweepSummary;
    expect({ ...summary.failed[0], text: '' }).toEqual({
      seed: 5,
      verdict: 'stalled',
      property: 'stalled',
      text: '',
      replay: `lockstep sweep ${STALLED} --seeds 1 --seed 5`,
    });
    expect([summary.seeds, summary.ended]).toEqual([1, 'failure']);
    expect(readdirSync(out).sort()).toEqual(['seed-5.ndjson', 'summary.json']);
    expect(JSON.parse(readFileSync(join(out, 'summary.json'), 'utf8'))).toEqual(summary);
    const events = readFileSync(join(out, 'seed-5.ndjson'), 'utf8').trimEnd().split('\n');
    const kinds = events.map((line) => (JSON.parse(line) as { kind: string }).kind);
    expect(kinds.filter((kind) => kind === 'fault')).toHaveLength(1);
    expect(readFileSync(junit, 'utf8')).toContain('<testcase classname="lockstep" name="seed 5">');
  });

  it('--shrink makes the seed of a scenario small and writes that down as a scenario', async () => {
    const file = scenarioFile('two-faults', [
      'election: timers',
      'faults: [{ kill: leader, at: 10ms }, { slow: follower, by: 1ms, at: 30ms, for: 5ms }]',
      'expect: { stallAtMost: 50ms }',
    ]);
    const out = join(dir, 'small');
    const args = ['sweep', file, '--seeds', '1', '--shrink', '--out-dir', out, '--json'];
    const { code, stdout, stderr } = await lockstep(args);
    const { failed } = JSON.parse(stdout) as SweepSummary;
    expect(stderr).toMatch(/^seed 1: shrunk from 2 faults to 1 after \d+ candidates$/m);
    expect([code, failed.map(({ replay }) => replay)]).toEqual([
      3,
      [`lockstep run ${join(out, 'replay-stalled-1.yaml')} --on sim`],
    ]);
    const again = await lockstep([
      'run',
      join(out, 'replay-stalled-1.yaml'),
      '--on',
      'sim',
      '--json',
    ]);
    expect([again.code, JSON.parse(again.stdout)]).toMatchObject([3, { verdict: 'stalled' }]);
  });

  it('--keep-going plays all of them; what showed nothing ends none', async () => {
    const going = await lockstep(['sweep', STALLED, '--seeds', '3', '--keep-going', '--json']);
    expect(going.code).toBe(3);
    expect((JSON.parse(going.stdout) as SweepSummary).failed.map(({ seed }) => seed)).toEqual([
      1, 2, 3,
    ]);
    const uncovered = await lockstep(['sweep', UNCOVERED, '--seeds', '2', '--json']);
    expect(uncovered.code).toBe(4);
    expect((JSON.parse(uncovered.stdout) as SweepSummary).failed).toHaveLength(2);
  });

  it('--must-hit: what was met holds, what was not is uncovered and named', async () => {
    const demand = (cell: string) =>
      lockstep(['sweep', HELD, '--seeds', '1', '--must-hit', cell, '--coverage']);
    const met = await demand('leader:*:stepDown');
    expect([met.code, met.stdout.split('\n')[1]]).toEqual([0, expect.stringMatching(/^stepDown /)]);
    const missed = await demand('leader:skipping:stepDown');
    expect(missed.code).toBe(4);
    expect(missed.stdout).toMatch(
      /leader:skipping:stepDown was not met; nearest is leader:\w+:stepDown/,
    );
  });

  it.concurrent('--until-plateau ends when this many seeds showed nothing new', async () => {
    const { code, stdout } = await lockstep(['sweep', HELD, '--until-plateau', '4', '--json']);
    expect(code).toBe(0);
    const { verdict, ended, seeds } = JSON.parse(stdout) as SweepSummary;
    expect([verdict, ended]).toEqual(['held', 'plateau']);
    expect(seeds).toBeGreaterThan(4);
  });

  it.concurrent(
    '--time-limit: as many as fit hold; with --seeds that did not fit it is inconclusive',
    async () => {
      const fit = await lockstep(['sweep', HELD, '--time-limit', '4s', '--json']);
      const { seeds, ended } = JSON.parse(fit.stdout) as SweepSummary;
      expect([fit.code, ended]).toEqual([0, 'timeLimit']);
      expect(seeds).toBeGreaterThan(0);
      const cut = await lockstep(['sweep', '--seeds', '1e6', '--time-limit', '500ms', '--json']);
      expect(cut.code).toBe(2);
      expect((JSON.parse(cut.stdout) as SweepSummary).ended).toBe('timeLimit');
    },
  );

  it.concurrent('SIGINT ends a sweep with what was played: inconclusive', async () => {
    const begun = performance.now();
    const { code, stdout } = await lockstep(['sweep', '--seeds', '1e6', '--json'], () => {
      return performance.now() - begun > 2_000;
    });
    expect(code).toBe(2);
    expect((JSON.parse(stdout) as SweepSummary).ended).toBe('signal');
  });

  it('--scaling plays the same seeds on one core first', async () => {
    const args = ['sweep', HELD, '--seeds', '2', '--cores', '2', '--scaling', '--json'];
    const { scaling, seeds } = JSON.parse((await lockstep(args)).stdout) as SweepSummary;
    expect(seeds).toBe(2);
    expect(scaling!.map(({ cores }) => cores)).toEqual([1, 2]);
  });
});

describe('command line: merge', () => {
  it('shards in one summary, the same as the whole but for its clock', async () => {
    const files = await Promise.all(
      [1, 2].map(async (index) => {
        const out = join(dir, `shard-${index}`);
        const shard = ['--shard', `${index}/2`, '--out-dir', out];
        expect((await lockstep(['sweep', '--seeds', '5', ...shard])).code).toBe(0);
        return join(out, 'summary.json');
      }),
    );
    const merged = await lockstep(['merge', ...files, '--json']);
    const whole = await lockstep(['sweep', '--seeds', '5', '--json']);
    expect(merged.code).toBe(0);
    const [one, other] = [merged, whole].map(({ stdout }) => JSON.parse(stdout) as SweepSummary);
    const { coverage, seeds, verdict, asked } = one!;
    expect({ coverage, seeds, verdict, asked }).toEqual({
      coverage: other!.coverage,
      seeds: 5,
      verdict: 'held',
      asked: other!.asked,
    });
    expect(one!.shards!.map((each) => [each.shard, each.seeds])).toEqual([
      ['1/2', 3],
      ['2/2', 2],
    ]);
    const part = await lockstep(['merge', files[0]!]);
    expect([part.code, part.stderr]).toEqual([
      64,
      'lockstep: merge: no file is given of shard 2/2\n',
    ]);
  });
});
