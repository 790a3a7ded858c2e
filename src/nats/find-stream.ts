/** A stream that a user named: what kept it from being described, in words for that user. */
import { LockstepError } from '../base/errors.js';
import { nearest } from '../scenario/words.js';
import { API_ERROR, apiErrorOf, isNotEnabled, type JetStreamApi } from './api.js';

/**
 * What `describe` answers. Errors: usage, when there is no JetStream or no such stream; else those
 * of `describe`.
 */
export async function findStream<T>(
  api: JetStreamApi,
  stream: string,
  describe: () => Promise<T>,
): Promise<T> {
  try {
    return await describe();
  } catch (error) {
    if (isNotEnabled(error)) {
      throw new LockstepError('usage', absence(api.prefix));
    }
    if (apiErrorOf(error) !== API_ERROR.streamNotFound) throw error;
    const names = await api.streamNames().catch(() => []);
    throw new LockstepError('usage', `stream ${stream} not found${nearest(stream, names)}`);
  }
}

/** A prefix that nobody answers at was mostly mistyped. */
function absence(prefix: string): string {
  const text = 'JetStream is not enabled on this server, account or domain';
  const domain = /^\$JS\.([^.]+)\.API$/.exec(prefix)?.[1];
  if (prefix === '$JS.API') return text;
  const given = domain === undefined ? `--js-api-prefix ${prefix}` : `--js-domain ${domain}`;
  return `${text}: nobody answers at ${prefix} (${given}, or the context's)`;
}
