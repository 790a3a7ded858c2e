/** Sends the swarm after one mutant, base by base, and says what came of it. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Hasher } from '../src/base/hasher.js';
import { parseReplay } from '../src/sim/replay-file.js';
import { runSwarm } from '../src/sim/swarm-run.js';
import type { SeedFailure } from '../src/verdict/sweep.js';
import { MutatedBuild } from './build.js';
import type {
  BaseReport,
  HunterReport,
  HunterRequest,
  Replayed,
  ScriptReport,
  ShrunkReport,
} from './hunter.js';
import { scriptOf } from './scripts.js';
import type { SwarmMutant } from './types.js';

export interface HuntOptions {
  readonly bases: number;
  /** Seeds of one base. */
  readonly seeds: number;
  /** Milliseconds without a line after which a hunter is given up. */
  readonly patienceMs: number;
  /** How many kills are shrunk. */
  readonly shrinks: number;
  /** Seeds under which each part of a script by hand is played. */
  readonly parts: number;
  readonly hasher: Hasher;
  /** Ends hunters under way; what they found so far counts. */
  readonly signal: AbortSignal;
}

export interface Hunt {
  readonly mutant: SwarmMutant;
  /** In the order of bases; fewer than were asked for when time ran out. */
  readonly bases: readonly BaseReport[];
  readonly shrunk: readonly (ShrunkReport & Control)[];
  /** Null: there is no script, or time ran out before it. */
  readonly script: (ScriptReport & Control) | null;
  /** What went wrong with the hunt itself; null when nothing did. */
  readonly trouble: string | null;
}

const HUNTER = fileURLToPath(new URL('hunter.js', import.meta.url));

/** What the build as it is says to the same file: null is what it should be. */
interface Control {
  readonly clean: SeedFailure | null;
}

const SHRINK_LIMIT_MS = 20_000;

export async function hunt(mutant: SwarmMutant, options: HuntOptions): Promise<Hunt> {
  const { hasher } = options;
  const bases: BaseReport[] = [];
  const shrunk: Hunt['shrunk'][number][] = [];
  let script: Hunt['script'] = null;
  const trouble = await send(requestOf(mutant, options), mutant, options, async (report) => {
    if (report.kind === 'base') bases.push(report);
    else if (report.kind === 'shrunk')
      shrunk.push({ ...report, ...(await control(report, hasher)) });
    else script = { ...report, ...(await control(report, hasher)) };
  });
  return { mutant, bases, shrunk, script, trouble };
}

function requestOf(mutant: SwarmMutant, options: HuntOptions): HunterRequest {
  const { bases, seeds, shrinks, parts } = options;
  return {
    bases,
    seeds: Math.max(seeds, mutant.within ?? 0),
    focus: mutant.focus ?? null,
    fires: mutant.fires,
    shrinks,
    parts,
    shrinkLimitMs: SHRINK_LIMIT_MS,
    script: scriptOf(mutant),
  };
}

async function control({ replayed }: { replayed: Replayed }, hasher: Hasher): Promise<Control> {
  const { plan } = parseReplay(replayed.text, 'script');
  return { clean: (await runSwarm(plan, hasher)).failure };
}

/** Null, or what went wrong with the hunter. */
async function send(
  request: HunterRequest,
  { edits }: SwarmMutant,
  { patienceMs, signal }: HuntOptions,
  onReport: (report: HunterReport) => Promise<void>,
): Promise<string | null> {
  using build = new MutatedBuild(edits);
  const child = spawn(process.execPath, [HUNTER, build.root, JSON.stringify(request)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let trouble: string | null = null;
  const give = (reason: string) => (): void => {
    trouble = reason;
    child.kill('SIGKILL');
  };
  const abort = give('out of time');
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  let patience = setTimeout(give('a seed that does not end'), patienceMs);
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  for await (const line of createInterface({ input: child.stdout })) {
    clearTimeout(patience);
    patience = setTimeout(give('a seed that does not end'), patienceMs);
    await onReport(JSON.parse(line) as HunterReport);
  }
  const code = await ended;
  clearTimeout(patience);
  signal.removeEventListener('abort', abort);
  if (code !== 0) trouble ??= `the hunter ended with ${code}: ${lastLine(complaint)}`;
  return trouble;
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
