/** What crosses a link of the simulation, copied with its bytes: no two ends share memory. */
import type { OriginCommand, OriginFrame } from '../mirror/types.js';
import type { Entry, Message } from '../raft/types.js';
import type { SimMemory } from './memory.js';

/** @param memory  of the member that it arrives at */
export function copyMessage(message: Message, memory: SimMemory): Message {
  if (message.type !== 'append') return { ...message };
  return { ...message, entries: message.entries.map((entry) => copyEntry(entry, memory)) };
}

export function copyEntry(entry: Entry, memory: SimMemory): Entry {
  const { term, index, kind, count, bytes } = entry;
  return { term, index, kind, count, bytes: memory.copy(bytes) };
}

export function copyCommand(command: OriginCommand): OriginCommand {
  return { ...command, opening: { ...command.opening } };
}

/** @param memory  of the member that it arrives at */
export function copyFrame(frame: OriginFrame, memory: SimMemory): OriginFrame {
  const opening = { ...frame.opening };
  switch (frame.type) {
    case 'deliver':
      return { ...frame, opening, bytes: memory.copy(frame.bytes) };
    case 'opened':
      return { ...frame, opening, identity: { ...frame.identity } };
    case 'refused':
      return { ...frame, opening, error: { ...frame.error } };
    case 'heartbeat':
      return { ...frame, opening };
  }
}
