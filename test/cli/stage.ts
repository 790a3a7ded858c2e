/** Runs the built command line. */
import { spawn } from 'node:child_process';

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * @param interruptWhen  asked again and again, with what was printed; once it says so the process
 *   gets a SIGINT
 * @param env  over that of this process
 */
export function lockstep(
  args: readonly string[],
  interruptWhen?: (stdout: string, stderr: string) => boolean,
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const words = ['dist/src/cli/main.js', ...args];
    const child = spawn(process.execPath, words, { env: { ...process.env, ...env } });
    const ended = { stdout: '', stderr: '' };
    child.stdout.on('data', (part: Buffer) => (ended.stdout += part.toString()));
    child.stderr.on('data', (part: Buffer) => (ended.stderr += part.toString()));
    const timer = setInterval(() => {
      if (interruptWhen?.(ended.stdout, ended.stderr) !== true) return;
      clearInterval(timer);
      child.kill('SIGINT');
    }, 10);
    child.once('close', (code) => {
      clearInterval(timer);
      resolve({ ...ended, code });
    });
  });
}
