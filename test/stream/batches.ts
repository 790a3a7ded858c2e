/** Commands as values, packed into batches: what the tests of the stream speak. */
import {
  identitySize,
  messageSize,
  RANGE_BYTES,
  SKIP_BYTES,
  viewOf,
  writeIdentity,
  writeMessage,
  writeReset,
  writeSkip,
  writeSkipRange,
} from '../../src/stream/layout.js';

export type Command =
  | {
      readonly kind: 'message';
      readonly seq: number;
      readonly timestamp: bigint;
      readonly subject: Uint8Array;
      readonly headers: Uint8Array;
      readonly payload: Uint8Array;
    }
  | { readonly kind: 'skip'; readonly expected: number }
  | { readonly kind: 'skipRange'; readonly expected: number; readonly count: number }
  | { readonly kind: 'reset'; readonly expected: number; readonly first: number }
  | {
      readonly kind: 'identity';
      readonly expected: number;
      readonly name: Uint8Array;
      readonly created: bigint;
    };

const ENCODER = new TextEncoder();

export function utf8(text: string): Uint8Array {
  return ENCODER.encode(text);
}

/** A message whose parts follow from its sequence; its length is odd for odd sequences. */
export function message(seq: number, timestamp = BigInt(seq) * 1_000n): Command {
  const headers = seq % 3 === 0 ? utf8(`h${seq}`) : new Uint8Array(0);
  const payload = utf8(`payload ${'.'.repeat(seq % 7)}${seq}`);
  return { kind: 'message', seq, timestamp, subject: utf8(`s.${seq % 5}`), headers, payload };
}

export function messages(first: number, last: number): Command[] {
  return Array.from({ length: last - first + 1 }, (_, at) => message(first + at));
}

/** Upstream's SkipMsgs(seq, count) as the command that says the same. */
export function skipMsgs(seq: number, count: number): Command {
  return { kind: 'skipRange', expected: seq - 1, count };
}

export function skip(expected: number): Command {
  return { kind: 'skip', expected };
}

export function reset(expected: number, first: number): Command {
  return { kind: 'reset', expected, first };
}

export function identity(name: string, created: bigint, expected = 0): Command {
  return { kind: 'identity', expected, name: utf8(name), created };
}

export function sizeOf(command: Command): number {
  switch (command.kind) {
    case 'message':
      return messageSize(command.subject.length, command.headers.length, command.payload.length);
    case 'skip':
      return SKIP_BYTES;
    case 'skipRange':
    case 'reset':
      return RANGE_BYTES;
    case 'identity':
      return identitySize(command.name);
  }
}

/** The commands side by side, in memory of their own. */
export function pack(commands: readonly Command[]): Uint8Array {
  const bytes = new Uint8Array(commands.reduce((size, command) => size + sizeOf(command), 0));
  const view = viewOf(bytes);
  let at = 0;
  for (const command of commands) at = write(bytes, view, at, command);
  return bytes;
}

function write(bytes: Uint8Array, view: DataView, at: number, command: Command): number {
  switch (command.kind) {
    case 'message':
      return writeMessage(bytes, view, at, command);
    case 'skip':
      return writeSkip(view, at, command.expected);
    case 'skipRange':
      return writeSkipRange(view, at, command.expected, command.count);
    case 'reset':
      return writeReset(view, at, command.expected, command.first);
    case 'identity':
      return writeIdentity(bytes, view, at, command);
  }
}
