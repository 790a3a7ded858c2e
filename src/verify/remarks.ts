/** What the two configurations tell a reader of the report, whatever was read. */
import { nanosecondsOf } from '../nats/api.js';
import { Selection } from './selection.js';
import type { Facts } from './sides.js';
import type { StreamFacts } from './stream-facts.js';

export function remarks({ origin, mirror }: Facts): string[] {
  const error = mirror.reported?.error ?? null;
  return [
    ...originRemarks(origin),
    ...mirrorRemarks(mirror),
    ...selectionRemarks(mirror),
    ...bucketRemarks(origin, mirror),
    ...limitRemarks(mirror),
    ...(isOlderThanOrigin({ origin, mirror })
      ? [`${mirror.name} holds a message older than ${origin.name}: made anew, or restored`]
      : []),
    ...(mirror.denyDeletes
      ? [`${mirror.name} denies deletes and purges: what is missing was not deleted by hand`]
      : []),
    ...(error === null ? [] : [`${mirror.name} reports: ${error}`]),
  ];
}

/**
 * A hint that the origin was deleted and made again; a restored one looks the same. What an origin
 * that is a mirror itself holds may be older than it.
 */
export function isOlderThanOrigin({ origin, mirror }: Facts): boolean {
  if (origin.mirror !== null || mirror.state.messages === 0) return false;
  return nanosecondsOf(mirror.state.first_ts) < origin.created;
}

/**
 * Whether the mirror is beyond its origin's end, which no origin that was only published to leaves
 * behind. A mirror that starts in the future is empty, and its last is a promise.
 */
export function isBeyondOrigin({ origin, mirror }: Facts): boolean {
  const { last_seq, messages } = mirror.state;
  if (origin.state.last_seq >= last_seq) return false;
  return messages > 0 || last_seq >= Math.max(1, mirror.mirror?.startSeq ?? 0);
}

function originRemarks({ name, retention, mirror }: StreamFacts): string[] {
  return [
    ...(retention === 'limits'
      ? []
      : [`${name} keeps by ${retention}: what was acknowledged is gone from it, and kept here`]),
    ...(mirror === null ? [] : [`${name} is itself a mirror of ${mirror.name}`]),
  ];
}

function mirrorRemarks({ name, retention }: StreamFacts): string[] {
  return retention === 'limits'
    ? []
    : [`${name} keeps by ${retention}: what was acknowledged there is gone from it`];
}

function selectionRemarks({ mirror }: StreamFacts): string[] {
  const selection = new Selection(mirror);
  const subjects = selection.subjects.join(', ');
  return [
    ...(selection.isAll ? [] : [`compared are the subjects that the mirror takes: ${subjects}`]),
    ...(selection.isUnderstood
      ? []
      : ['its subject transform is not understood: subjects are not compared']),
  ];
}

function bucketRemarks(origin: StreamFacts, mirror: StreamFacts): string[] {
  const [of, at] = [origin.maxPerSubject, mirror.maxPerSubject];
  if (!origin.name.startsWith('KV_') || at <= 0 || (of > 0 && of <= at)) return [];
  const all = of > 0 ? `${of}` : 'all';
  return [`${mirror.name} keeps ${at} of each key, ${origin.name} ${all}: a shorter history`];
}

function limitRemarks({ name, discardsNew, maxMessages, maxBytes }: StreamFacts): string[] {
  const isLimited = maxMessages > 0 || maxBytes > 0;
  return discardsNew && isLimited
    ? [`${name} takes nothing more once it is full (discard new)`]
    : [];
}
