/** The end of a command that something keeps from ending. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const MODULE = new URL('../../dist/src/cli/leave.js', import.meta.url).href;

it('a process that a timer keeps -> it ends, with its exit code and all that it printed', async () => {
  const text = `
    import { leaveSoon } from '${MODULE}';
    setInterval(() => undefined, 1_000_000);
    process.stdout.write('x'.repeat(300_000));
    process.exitCode = 3;
    leaveSoon();`;
  const ended = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', text]);
  const { code, stdout } = (await ended.catch((error: unknown) => error)) as {
    readonly code: number;
    readonly stdout: string;
  };
  expect({ code, length: stdout.length }).toEqual({ code: 3, length: 300_000 });
});
