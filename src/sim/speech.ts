/**
 * What replicas, origin and conductor say to each other, in words: the paper's for messages between
 * replicas, with term and index as `5/2`, index 5 of term 2.
 */
import type { Opening, OriginCommand, OriginFrame } from '../mirror/types.js';
import type { Entry, Message } from '../raft/types.js';
import type { ReplicaEvent } from '../replica/types.js';
import { expectedOf, recordSize, viewOf } from '../stream/layout.js';
import type { Crossed } from './taps.js';

export function wordsOf(crossed: Crossed): string {
  switch (crossed.kind) {
    case 'message':
      return messageWords(crossed.message);
    case 'command':
      return commandWords(crossed.command);
    case 'frame':
      return frameWords(crossed.frame);
    case 'order': {
      const { order } = crossed;
      return order.type === 'probe' ? 'probe' : `campaign above term ${order.term}`;
    }
  }
}

/** Whether it only says that somebody is there. */
export function isSignOfLife(crossed: Crossed): boolean {
  if (crossed.kind === 'message') return crossed.message.type.startsWith('heartbeat');
  return crossed.kind === 'frame' && crossed.frame.type === 'heartbeat';
}

function messageWords(message: Message): string {
  const { term } = message;
  switch (message.type) {
    case 'vote': {
      const ordered = message.ordered ? ', ordered' : '';
      const last = `last ${message.lastIndex}/${message.lastTerm}`;
      return `${message.pre ? 'pre-vote' : 'vote'} request, term ${term}, ${last}${ordered}`;
    }
    case 'voteReply': {
      const vote = message.pre ? 'pre-vote' : 'vote';
      return `${vote} ${message.granted ? 'granted' : 'refused'}, term ${term}`;
    }
    case 'append': {
      const after = `after ${message.prevIndex}/${message.prevTerm}`;
      const entries = entryWords(message.entries);
      return `append, term ${term}, ${after}: ${entries}; commit ${message.commit}`;
    }
    case 'appendReply': {
      if (message.accepted) return `appended up to ${message.index}, term ${term}`;
      const hint = `${message.hintIndex}/${message.hintTerm} may match`;
      return `append refused after ${message.index}, term ${term}, ${hint}`;
    }
    case 'heartbeat':
      return `heartbeat, term ${term}, commit ${message.commit}`;
    case 'heartbeatReply':
      return `heartbeat heard, term ${term}`;
    case 'timeoutNow':
      return `campaign now, term ${term}`;
  }
}

/** Neighbours of one term are told as one: `6..8/2 of 30 commands`. */
function entryWords(entries: readonly Entry[]): string {
  if (entries.length === 0) return 'nothing';
  const parts: string[] = [];
  for (let at = 0; at < entries.length;) {
    const { kind, term, index } = entries[at]!;
    let end = at + 1;
    let { count } = entries[at]!;
    for (; entries[end]?.term === term && entries[end]?.kind === kind; end++) {
      count += entries[end]!.count;
    }
    const place = end === at + 1 ? `${index}/${term}` : `${index}..${index + end - at - 1}/${term}`;
    parts.push(kind === 'batch' ? `${place} of ${plural(count, 'command')}` : `${place} ${kind}`);
    at = end;
  }
  return parts.join(', ');
}

function commandWords(command: OriginCommand): string {
  const opening = openingWords(command.opening);
  switch (command.type) {
    case 'open':
      return `open ${opening} at ${command.startSeq}`;
    case 'close':
      return `close ${opening}`;
    case 'credit':
      return `credit ${opening} up to delivery ${command.deliverySeq}`;
  }
}

function frameWords(frame: OriginFrame): string {
  const opening = openingWords(frame.opening);
  switch (frame.type) {
    case 'opened': {
      const { name, created } = frame.identity;
      const bounds = `starts after ${frame.startsAfter}, last ${frame.last}`;
      return `opened ${opening}: ${bounds}, ${name} of ${created}`;
    }
    case 'refused':
      return `refused ${opening}: ${frame.error.message}`;
    case 'deliver': {
      const { deliverySeq, count } = frame;
      const numbers = count === 1 ? deliverySeq : `${deliverySeq}..${deliverySeq + count - 1}`;
      return `delivery ${numbers} of ${opening}: messages ${rangesWords(messageSeqs(frame.bytes))}`;
    }
    case 'heartbeat':
      return `heartbeat of ${opening}, last delivery ${frame.lastDeliverySeq}`;
  }
}

/** Term and generation; the member is the end of the line. */
function openingWords({ term, generation }: Opening): string {
  return `${term}.${generation}`;
}

/** What a replica reports of itself; null: what its messages say already. */
export function eventWords(event: ReplicaEvent): string | null {
  switch (event.kind) {
    case 'role': {
      const { role, term, leader, cause } = event;
      const of = role === 'follower' && leader !== null ? ` of ${leader}` : '';
      return `${ROLES[role]}${of}, term ${term} (${cause})`;
    }
    case 'transfer':
      return `transfer to ${event.to} ${event.state}`;
    case 'opening':
      if (event.state !== 'closed') return null;
      return `closes ${openingWords(event.opening)}${because(event.cause)}`;
    case 'propose': {
      const { what, first, last, count, refused } = event;
      const batch = first === last ? `${what} ${first}` : `${what} ${first}..${last}`;
      const refusal = refused === null ? '' : `, refused: ${refused.code}`;
      return `proposes ${batch} as ${plural(count, 'command')}${refusal}`;
    }
    case 'rollback':
      return `rolls back from ${event.from.seq} to ${event.to.seq} (${event.cause})`;
    case 'retry': {
      const when = event.inTicks === null ? 'not by itself' : `in ${plural(event.inTicks, 'tick')}`;
      return `retries ${when}, attempt ${event.attempt} (${event.cause})`;
    }
    case 'condition':
      return `mirror ${event.condition}: ${event.reason}`;
    case 'apply': {
      const { index, term, stored, skipped, seen, mismatched, last } = event;
      const parts = [
        ...(stored > 0 ? [`${stored} stored`] : []),
        ...(skipped > 0 ? [`${skipped} skipped`] : []),
        ...(seen > 0 ? [`${seen} seen before`] : []),
        ...(mismatched > 0 ? [`${mismatched} mismatched`] : []),
      ];
      const outcome = parts.length === 0 ? 'nothing stored' : parts.join(', ');
      return `applies ${index}/${term}: ${outcome}, last ${last}`;
    }
    case 'commit':
      return null;
  }
}

const ROLES = {
  follower: 'follower',
  preCandidate: 'pre-candidate',
  candidate: 'candidate',
  leader: 'leader',
} as const;

function because(cause: string | undefined): string {
  return cause === undefined ? '' : ` (${cause})`;
}

/** The sequences of message commands that lie behind each other. */
function messageSeqs(bytes: Uint8Array): number[] {
  const view = viewOf(bytes);
  const seqs: number[] = [];
  for (let at = 0; at < bytes.length; at += recordSize(view, at)) {
    seqs.push(expectedOf(view, at) + 1);
  }
  return seqs;
}

/** `101..103, 200`. */
function rangesWords(seqs: readonly number[]): string {
  const parts: string[] = [];
  for (let at = 0; at < seqs.length;) {
    let end = at + 1;
    while (seqs[end] === seqs[end - 1]! + 1) end++;
    parts.push(end === at + 1 ? `${seqs[at]!}` : `${seqs[at]!}..${seqs[end - 1]!}`);
    at = end;
  }
  return parts.join(', ');
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
