/**
 * What crosses a link of the simulation, copied with its bytes: no two ends share memory. Every
 * field is named, in the order in which its maker names it: a copy made by spreading has a layout
 * of its own, which the engine forgets with the run, and then compiles all that reads it anew.
 */
import type { ConductorOrder, MemberView } from '../election/conductor.js';
import type { Opening, OriginCommand, OriginFrame, OriginIdentity } from '../mirror/types.js';
import type { Entry, Message } from '../raft/types.js';
import type { SimMemory } from './memory.js';

/** @param memory  of the member that it arrives at */
export function copyMessage(message: Message, memory: SimMemory): Message {
  const { type, from, to, term } = message;
  switch (type) {
    case 'append': {
      const { prevIndex, prevTerm, commit, released } = message;
      const entries = copyEntries(message.entries, memory);
      return { type, from, to, term, prevIndex, prevTerm, commit, released, entries };
    }
    case 'appendReply': {
      const { accepted, index, hintIndex, hintTerm } = message;
      return { type, from, to, term, accepted, index, hintIndex, hintTerm };
    }
    case 'heartbeat': {
      const { commit, released } = message;
      return { type, from, to, term, commit, released };
    }
    case 'vote': {
      const { pre, ordered, lastIndex, lastTerm } = message;
      return { type, from, to, term, pre, ordered, lastIndex, lastTerm };
    }
    case 'voteReply': {
      const { pre, granted } = message;
      return { type, from, to, term, pre, granted };
    }
    case 'heartbeatReply':
    case 'timeoutNow':
      return { type, from, to, term };
  }
}

export function copyEntries(entries: readonly Entry[], memory: SimMemory): Entry[] {
  const copies: Entry[] = [];
  for (const { term, index, kind, count, bytes } of entries) {
    copies.push({ term, index, kind, count, bytes: memory.copy(bytes) });
  }
  return copies;
}

export function copyCommand(command: OriginCommand): OriginCommand {
  const { type } = command;
  const opening = copyOpening(command.opening);
  switch (type) {
    case 'open':
      return { type, opening, startSeq: command.startSeq };
    case 'close':
      return { type, opening };
    case 'credit':
      return { type, opening, deliverySeq: command.deliverySeq };
  }
}

/** @param memory  of the member that it arrives at */
export function copyFrame(frame: OriginFrame, memory: SimMemory): OriginFrame {
  const { type } = frame;
  const opening = copyOpening(frame.opening);
  switch (type) {
    case 'deliver': {
      const { deliverySeq, count, pending } = frame;
      return { type, opening, deliverySeq, count, pending, bytes: memory.copy(frame.bytes) };
    }
    case 'opened': {
      const { startsAfter, last, pending } = frame;
      const identity = copyIdentity(frame.identity);
      return { type, opening, identity, startsAfter, last, pending };
    }
    case 'refused':
      return { type, opening, error: { ...frame.error } };
    case 'heartbeat':
      return { type, opening, lastDeliverySeq: frame.lastDeliverySeq };
  }
}

export function copyView(view: MemberView): MemberView {
  const { member, role, term, leader, lastIndex, lastTerm, hears } = view;
  return { member, role, term, leader, lastIndex, lastTerm, hears: hears.slice() };
}

export function copyOrder(order: ConductorOrder): ConductorOrder {
  const { type, to } = order;
  if (type === 'probe') return { type, to };
  return { type, to, term: order.term, deadLeader: order.deadLeader };
}

function copyOpening({ member, term, generation }: Opening): Opening {
  return { member, term, generation };
}

/** A spoilt answer may have none. */
function copyIdentity(identity: Partial<OriginIdentity> | undefined): OriginIdentity {
  return { name: identity?.name, created: identity?.created } as OriginIdentity;
}
