/** Requests to a server that may be starting, or whose leader moves: asked again for a while. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isTransient } from './api.js';

/** How long a server that does not answer is waited for. */
export const PATIENCE_MS = 20_000;
/** The same, in time-outs of one request. */
export const PATIENCE_TIMEOUTS = 4;
export const RETRY_MS = 250;

/** Errors: those of the last request. @param mayPass  whether to ask again after an error */
export async function patiently<T>(
  ask: () => Promise<T>,
  patienceMs = PATIENCE_MS,
  mayPass = isTransient,
): Promise<T> {
  const until = performance.now() + patienceMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!mayPass(error) || performance.now() > until) throw error;
      await sleep(RETRY_MS);
    }
  }
}
