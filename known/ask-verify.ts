/** Asks the built command line, as a user would, and reads its JSON. */
import { execFile } from 'node:child_process';
import type { NatsCluster } from '../src/nats/cluster.js';
import { EXIT } from '../src/verdict/types.js';
import type { KnownCase, Said } from './types.js';

interface Finding {
  readonly kind: string;
  readonly first: number;
  readonly last: number;
}

interface Report {
  readonly result: string;
  readonly backlog?: { readonly status: string };
  readonly explained: readonly Finding[];
  readonly differences: readonly Finding[];
}

const WITHIN_MS = 180_000;

export async function askVerify({ urls }: NatsCluster, asked: KnownCase): Promise<Said> {
  const { stream, replicas = false } = asked;
  const flags = ['--server', urls.join(','), '--no-context', '--depth', 'full', '--format', 'json'];
  const { code, stdout, stderr } = await lockstep([
    ...['verify', stream, ...flags],
    ...(replicas ? ['--replicas'] : []),
  ]);
  if (code === EXIT.inconclusive) return { result: 'inconclusive', found: [], backlog: '' };
  // What could not be judged is said on standard error alone.
  if (stdout === '') throw new Error(`verify ${stream}: ${stderr.trim()}`);
  const { result, backlog, explained, differences } = JSON.parse(stdout) as Report;
  return {
    result,
    found: [...differences, ...explained].map(({ kind, first, last }) => {
      return `${kind} ${first}..${last}`;
    }),
    backlog: backlog?.status ?? '',
  };
}

/** Its exit code says what it found; whatever it is, there is something to read. */
function lockstep(
  args: readonly string[],
): Promise<{ code: number | string | null; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const words = ['dist/src/cli/main.js', ...args];
    execFile(process.execPath, words, { timeout: WITHIN_MS }, (error, stdout, stderr) => {
      resolve({ code: error?.code ?? null, stdout, stderr });
    });
  });
}
