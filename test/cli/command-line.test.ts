/** The built command line as a user meets it: exit codes, one line on stderr, JSON on stdout. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lockstep } from './stage.js';

const NATS = 'test/fixtures/nats';
const ORDERS = `nats-gaps:${NATS}/ORDERS.gaps.json,info=${NATS}/ORDERS.info.json`;

const BAD: readonly (readonly [what: string, args: readonly string[], says: RegExp])[] = [
  ['unknown flag', ['run', '--frob'], /--frob/],
  ['unknown command', ['frob'], /frob/],
  ['a slip in a command', ['runn'], /'runn'; did you mean run\?/],
  ['a slip in a flag', ['run', '--sed', '5'], /'--sed'; did you mean --seed\?/],
  ['no command', [], /no command is given/],
  ['help for no command', ['help', 'frob'], /unknown command 'frob'/],
  [
    'a directory that is a file',
    ['run', '--out-dir', 'README.md'],
    /--out-dir: README\.md: cannot/,
  ],
  ['unknown driver', ['run', '--on', 'mars'], /mars/],
  ['unknown fault', ['run', '--fault', 'stepdown=leader,at=1s'], /stepdown.*did you mean stepDown/],
  ['unit missing', ['run', '--fault', 'freeze=leader,for=600,at=1s'], /600.*unit/],
  ['gap beyond the stream', ['run', '--origin', 'synthetic:messages=10,gap=20+5'], /20/],
  ['overlapping gaps', ['run', '--origin', 'synthetic:messages=9,gap=2+5,gap=1+5'], /overlap/],
  [
    'a sequence above 2^53-1',
    ['run', '--origin', 'synthetic:messages=10,gap=2+9007199254740993'],
    /2\^53-1/,
  ],
  ['two replicas', ['run', '--replicas', '2'], /replicas.*"?2"?.*1, 3, 5/],
  ['no replica', ['run', '--replicas', '0'], /replicas.*0/],
  ['a word of replicas', ['run', '--replicas', 'three'], /replicas.*three/],
  ['file missing', ['run', 'nofile.yaml'], /nofile\.yaml.*no such file/],
  ['gaps file missing', ['run', '--origin', `nats-gaps:no,info=${NATS}/WIDE.info.json`], /no such/],
  ['not JSON', ['run', '--origin', `nats-gaps:README.md,info=${NATS}/WIDE.info.json`], /JSON/],
  [
    'JSON of another kind',
    ['run', '--origin', `nats-gaps:${NATS}/WIDE.info.json,info=${NATS}/WIDE.info.json`],
    /nats stream gaps/,
  ],
  ['info= missing', ['run', '--origin', `nats-gaps:${NATS}/WIDE.gaps.json`], /info=/],
  ['unknown slot', ['run', '--fault', 'kill=r9,at=1s'], /r9/],
  [
    'more than the cluster tolerates',
    ['run', '--fault', 'kill=r1,at=1s', '--fault', 'kill=r2,at=1s'],
    /beyondQuorum/,
  ],
  ['unknown election', ['run', '--election', 'monarchy'], /monarchy/],
  ['one value given twice', ['run', '--seed', '1', '--seed', '2'], /--seed: given twice/],
  ['a scenario for a replay', ['replay', 'scenarios/main-job.yaml'], /lockstep run plays/],
  [
    'a replay for a scenario',
    ['run', 'scenarios/found/credit-lost.json'],
    /is a replay file; lockstep replay plays it/,
  ],
  ['a line break in a flag', ['run', '--o\nn'], /unknown option '--o\\u\{a\}n'/],
  ['a line break in a value', ['run', '--skip', 'a\nb'], /--skip: "a\\u\{a\}b" is not one of/],
];

describe('command line: bad input is one line and exit 64', () => {
  it.concurrent.each(BAD)('%s', async (_, args, says) => {
    const { code, stdout, stderr } = await lockstep(args);
    expect({ code, stdout, lines: stderr.split('\n').length }).toEqual({
      code: 64,
      stdout: '',
      lines: 2,
    });
    expect(stderr).toMatch(/^lockstep: /);
    expect(stderr).toMatch(says);
  });
});

describe("command line: an origin of one's own", () => {
  it('a module that this Node does not run: one line and exit 64', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'lockstep-'));
    const file = join(dir, 'a.yaml');
    writeFileSync(file, 'version: 1\nname: a\norigin: { module: { path: README.md } }\n');
    const { code, stderr } = await lockstep(['run', file, '--on', 'sim']);
    rmSync(dir, { recursive: true });
    const text = 'this Node runs JavaScript only: name the module that it is compiled to';
    expect([code, stderr]).toEqual([64, `lockstep: origin.module: README.md: ${text}\n`]);
  });
});

describe('command line: environment', () => {
  it('a variable of a name that lockstep does not know: one line and exit 64', async () => {
    const { code, stdout, stderr } = await lockstep(['schema'], undefined, { LOCKSTEP_SEDS: '5' });
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
    expect(stderr).toMatch(
      /^lockstep: LOCKSTEP_SEDS: no variable of lockstep; did you mean LOCKSTEP_SEEDS\? \(.+\)\n$/,
    );
  });
});

describe('command line: run', () => {
  it('--json prints the summary alone, exactly its fields, and exits 0 when held', async () => {
    const faults = ['--fault', 'stepDown=leader,when=skipped:100'];
    const { code, stdout, stderr } = await lockstep([
      'run',
      '--origin',
      ORDERS,
      ...faults,
      '--json',
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const summary = JSON.parse(stdout) as Record<string, unknown>;
    const keys = (value: unknown): string[] => Object.keys(value as object);
    expect(keys(summary)).toEqual([
      ...['schema', 'verdict', 'driver', 'seed', 'elapsedMs', 'origin', 'replicas', 'messages'],
      ...['skip', 'leadership', 'mirror', 'faults', 'stallMs', 'reasons', 'rate', 'replay'],
    ]);
    const state = ['first', 'last', 'messages', 'deleted'];
    expect(keys(summary['origin']).sort()).toEqual([...state, 'sentinel', 'tailGap'].sort());
    const [replica] = summary['replicas'] as unknown[];
    expect(keys(replica).sort()).toEqual([...state, 'id', 'digest'].sort());
    expect(keys(summary['skip'])).toEqual([
      ...['encoding', 'sequences', 'batches', 'largestBatch', 'refused'],
    ]);
    expect(keys(summary['messages']).sort()).toEqual(
      ['ok', 'lost', 'duplicated', 'reordered', 'corrupt', 'phantom', 'unknown'].sort(),
    );
    expect(keys((summary['faults'] as unknown[])[0])).toEqual([
      ...['kind', 'target', 'status', 'atMs', 'newLeaderMs', 'firstMessageMs', 'caughtUpMs'],
    ]);
    expect(summary).toMatchObject({
      schema: 1,
      verdict: 'held',
      origin: { first: 1, last: 1_201, messages: 695, deleted: 506, sentinel: 1_201 },
      replay: `lockstep run --origin ${ORDERS} --fault ${faults[1]!} --seed 1`,
    });
  });

  it.each([
    ['threads', 'synthetic:messages=100000,rate=1000'],
    ['sim', 'synthetic:messages=2000000,rate=10000'],
  ])('%s: SIGINT ends a run with a partial summary: inconclusive, exit 2', async (on, origin) => {
    const dir = mkdtempSync(join(tmpdir(), 'lockstep-'));
    try {
      const args = ['run', '--on', on, '--origin', origin, '--json', '--out-dir', dir];
      const events = join(dir, 'events.ndjson');
      const { code, stdout } = await lockstep(args, () => {
        return existsSync(events) && readFileSync(events, 'utf8').includes('"kind":"progress"');
      });
      expect(code).toBe(2);
      const { verdict, messages, reasons } = JSON.parse(stdout) as {
        verdict: string;
        messages: { ok: number; lost: number };
        reasons: readonly { verdict: string; text: string }[];
      };
      expect(verdict).toBe('inconclusive');
      expect(messages.lost).toBe(0);
      expect(messages.ok).toBeGreaterThan(0);
      expect(reasons).toEqual([
        { verdict: 'inconclusive', text: 'ended by a signal before the run was over' },
      ]);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it('a reader that goes away changes nothing: no trace, the exit code of the verdict', async () => {
    const run = 'node dist/src/cli/main.js run --on sim --origin synthetic:messages=100';
    const { stdout, stderr } = await shell(`{ ${run}; echo "exit $?" >&2; } | true`);
    expect([stdout, stderr]).toEqual(['', 'exit 0\n']);
  });

  it.runIf(existsSync('/dev/full'))(
    'output that cannot be written: one line, exit 70',
    async () => {
      const main = 'node dist/src/cli/main.js';
      const run = `${main} run --on sim --origin synthetic:messages=100`;
      for (const command of [run, `${main} schema`]) {
        const { stderr } = await shell(`${command} > /dev/full; echo "exit $?" >&2`);
        expect(stderr).toMatch(/^lockstep: standard output cannot be written to .+\nexit 70\n$/);
      }
    },
  );

  it.runIf(existsSync('/proc/self'))(
    'a directory that cannot be made: refused at once',
    async () => {
      const { code, stderr } = await lockstep(['run', '--out-dir', '/proc/lockstep/x']);
      expect(code).toBe(64);
      expect(stderr).toMatch(
        /^lockstep: --out-dir: \/proc\/lockstep\/x: cannot be written to .+\n$/,
      );
    },
  );

  it('a summary that cannot be kept is refused before the run', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'lockstep-'));
    try {
      mkdirSync(join(dir, 'summary.json'));
      const { code, stdout, stderr } = await lockstep(['run', '--out-dir', dir]);
      expect([code, stdout]).toEqual([64, '']);
      expect(stderr).toMatch(/^lockstep: --out-dir: .+cannot be written to .+\n$/);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it('--version', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(await lockstep(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });
});

/** What a command of the shell prints. */
function shell(command: string): Promise<{ readonly stdout: string; readonly stderr: string }> {
  return new Promise((resolve) => {
    execFile('bash', ['-c', command], (_error, stdout, stderr) => {
      resolve({ stdout, stderr });
    });
  });
}
