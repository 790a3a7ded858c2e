/** What a server forbids, told by the permission that is missing. */
import { LockstepError } from '../base/errors.js';
import { plain } from '../base/plain.js';

export type Way = 'publish' | 'subscribe';

/**
 * Error: originRefused, with the subject as detail `forbidden`. It names what to grant, not what
 * was tried: names of consumers and inboxes are drawn anew each time.
 */
export function forbidden(way: Way, subject: string): LockstepError {
  const text = `no permission to ${way} to ${plain(grantOf(way, subject))}`;
  return new LockstepError('originRefused', text, { forbidden: subject });
}

/** As `verify --permissions` has it. */
function grantOf(way: Way, subject: string): string {
  if (way === 'subscribe') return subject.replace(/\.[^.]+(\.\*)?$/, '.>');
  return subject
    .replace(/(\.CONSUMER\.CREATE\.[^.]+)\.[^.]+$/, '$1.>')
    .replace(/(\.CONSUMER\.DELETE\.[^.]+)\.[^.]+$/, '$1.*');
}
