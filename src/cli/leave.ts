/**
 * The end of a command: whatever is still going on somewhere does not keep the process, be it what
 * a module of the user's own left open.
 */

/** What ends by itself has so long to do so. */
const GRACE_MS = 1_000;

/** To be called once everything was said; what is said is written before the process ends. */
export function leaveSoon(): void {
  setInterval(() => {
    if (process.stdout.writableLength + process.stderr.writableLength === 0) process.exit();
  }, GRACE_MS).unref();
}
