/** What crosses a link of the simulation, copied with its bytes: no two ends share memory. */
import type { OriginCommand, OriginFrame } from '../mirror/types.js';
import type { Entry, Message } from '../raft/types.js';

export function copyMessage(message: Message): Message {
  if (message.type !== 'append') return { ...message };
  return { ...message, entries: message.entries.map(copyEntry) };
}

export function copyEntry(entry: Entry): Entry {
  return { ...entry, bytes: entry.bytes.slice() };
}

export function copyCommand(command: OriginCommand): OriginCommand {
  return { ...command, opening: { ...command.opening } };
}

export function copyFrame(frame: OriginFrame): OriginFrame {
  const opening = { ...frame.opening };
  switch (frame.type) {
    case 'deliver':
      return { ...frame, opening, bytes: frame.bytes.slice() };
    case 'opened':
      return { ...frame, opening, identity: { ...frame.identity } };
    case 'refused':
      return { ...frame, opening, error: { ...frame.error } };
    case 'heartbeat':
      return { ...frame, opening };
  }
}
