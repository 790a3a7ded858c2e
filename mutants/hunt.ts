/** Sends the swarm after one mutant, base by base, and says what came of it. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { MutatedBuild } from './build.js';
import type { BaseReport } from './hunter.js';
import type { SwarmMutant } from './types.js';

export interface HuntOptions {
  readonly bases: number;
  /** Seeds of one base. */
  readonly seeds: number;
  /** Milliseconds without a line after which a hunter is given up. */
  readonly patienceMs: number;
  /** Ends hunters under way; what they found so far counts. */
  readonly signal: AbortSignal;
}

export interface Hunt {
  readonly mutant: SwarmMutant;
  /** In the order of bases; fewer than were asked for when time ran out. */
  readonly bases: readonly BaseReport[];
  /** What went wrong with the hunt itself; null when nothing did. */
  readonly trouble: string | null;
}

const HUNTER = fileURLToPath(new URL('hunter.js', import.meta.url));

export async function hunt(mutant: SwarmMutant, options: HuntOptions): Promise<Hunt> {
  using build = new MutatedBuild(mutant.edits);
  const { bases, seeds, patienceMs, signal } = options;
  const numbers = Array.from({ length: bases }, (_, base) => String(base));
  const most = String(Math.max(seeds, mutant.within ?? 0));
  const child = spawn(process.execPath, [HUNTER, build.root, most, ...numbers], {
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
  const reports: BaseReport[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    reports.push(JSON.parse(line) as BaseReport);
    clearTimeout(patience);
    patience = setTimeout(give('a seed that does not end'), patienceMs);
  }
  const code = await ended;
  clearTimeout(patience);
  signal.removeEventListener('abort', abort);
  if (code !== 0) trouble ??= `the hunter ended with ${code}: ${lastLine(complaint)}`;
  return { mutant, bases: reports, trouble };
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
