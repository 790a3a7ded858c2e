/** Runs the built command line. */
import { spawn } from 'node:child_process';

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** @param interruptWhen  asked again and again; once it says so the process gets a SIGINT */
export function lockstep(args: readonly string[], interruptWhen?: () => boolean): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['dist/src/cli/main.js', ...args]);
    const ended = { stdout: '', stderr: '' };
    child.stdout.on('data', (part: Buffer) => (ended.stdout += part.toString()));
    child.stderr.on('data', (part: Buffer) => (ended.stderr += part.toString()));
    const timer = setInterval(() => {
      if (interruptWhen?.() !== true) return;
      clearInterval(timer);
      child.kill('SIGINT');
    }, 10);
    child.once('close', (code) => {
      clearInterval(timer);
      resolve({ ...ended, code });
    });
  });
}
