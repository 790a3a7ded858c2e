/** Runs the built command line. */
import { spawn } from 'node:child_process';

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function lockstep(args: readonly string[], interruptAfterMs?: number): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['dist/src/cli/main.js', ...args]);
    const ended = { stdout: '', stderr: '' };
    child.stdout.on('data', (part: Buffer) => (ended.stdout += part.toString()));
    child.stderr.on('data', (part: Buffer) => (ended.stderr += part.toString()));
    const timer =
      interruptAfterMs === undefined
        ? undefined
        : setTimeout(() => child.kill('SIGINT'), interruptAfterMs);
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ ...ended, code });
    });
  });
}
