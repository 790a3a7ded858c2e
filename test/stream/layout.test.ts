import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LockstepError } from '../../src/base/errors.js';
import {
  countOf,
  expectedOf,
  firstOf,
  KIND_IDENTITY,
  KIND_MESSAGE,
  KIND_RESET,
  KIND_SKIP,
  KIND_SKIP_RANGE,
  messageSize,
  readIdentity,
  readMessage,
  recordKind,
  recordSize,
  validateBatch,
  validateMessages,
  viewOf,
  writeMessage,
} from '../../src/stream/layout.js';
import {
  identity,
  message,
  messages,
  pack,
  reset,
  sizeOf,
  skip,
  skipMsgs,
  utf8,
  type Command,
} from './batches.js';

const MAX = Number.MAX_SAFE_INTEGER;

function refusal(act: () => void): { code: string; at: unknown } {
  try {
    act();
  } catch (error) {
    if (!(error instanceof LockstepError)) throw error;
    return { code: error.code, at: error.detail?.['at'] };
  }
  throw new Error('nothing was refused');
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('hex')
    .replace(/(.{16})(?=.)/g, '$1 ');
}

describe('layout: bytes', () => {
  test('layout: bytes: message -> every field at its offset', () => {
    const record: Command = {
      kind: 'message',
      seq: 0x1f_0203_0405_0607,
      timestamp: -2n,
      subject: utf8('ab'),
      headers: utf8('cde'),
      payload: utf8('fghi'),
    };
    expect(hex(pack([record]))).toBe(
      '3000000001000200 0606050403021f00 feffffffffffffff 0300000004000000 ' +
        '6162636465666768 6900000000000000',
    );
  });

  test.each<[string, Command, string]>([
    ['skip', skip(5), '1000000002000000 0500000000000000'],
    ['skipRange', skipMsgs(6, 0x1_0000_0002), '1800000003000000 0500000000000000 0200000001000000'],
    ['reset', reset(5, 1_000), '1800000004000000 0500000000000000 e803000000000000'],
    [
      'identity',
      identity('XY', 258n, 7),
      '2800000005000000 0700000000000000 0201000000000000 0200000000000000 5859000000000000',
    ],
  ])('layout: bytes: %s -> every field at its offset', (_, command, expected) => {
    expect(hex(pack([command]))).toBe(expected);
  });
});

const part = fc.uint8Array({ maxLength: 37 });
const expectedSeq = fc.oneof(fc.constantFrom(0, 1, MAX - 1), fc.integer({ min: 0, max: MAX - 1 }));
const stamp = fc.oneof(
  fc.constantFrom(-1n, 0n, -(2n ** 63n), 2n ** 63n - 1n),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
);
const anyMessage = fc
  .tuple(expectedSeq, stamp, part, part, part)
  .map(([expected, timestamp, subject, headers, payload]): Command => {
    return { kind: 'message', seq: expected + 1, timestamp, subject, headers, payload };
  });
const anyRange = fc
  .tuple(expectedSeq, fc.nat({ max: MAX }))
  .map(([expected, count]) => skipMsgs(expected + 1, Math.min(count, MAX - expected)));
const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  anyMessage,
  expectedSeq.map(skip),
  anyRange,
  fc.tuple(expectedSeq, expectedSeq).map(([expected, last]) => reset(expected, last + 1)),
  fc.tuple(expectedSeq, part, stamp).map(([expected, name, created]): Command => {
    return { kind: 'identity', expected, name, created };
  }),
);

/** What the accessors say of every record, as the commands that were packed. */
function unpack(bytes: Uint8Array): Command[] {
  const view = viewOf(bytes);
  const commands: Command[] = [];
  for (let at = 0; at < bytes.length; at += recordSize(view, at)) {
    const expected = expectedOf(view, at);
    const kind = recordKind(view, at);
    if (kind === KIND_MESSAGE) commands.push({ kind: 'message', ...readMessage(bytes, at) });
    if (kind === KIND_SKIP) commands.push(skip(expected));
    if (kind === KIND_SKIP_RANGE) commands.push(skipMsgs(expected + 1, countOf(view, at)));
    if (kind === KIND_RESET) commands.push(reset(expected, firstOf(view, at)));
    if (kind === KIND_IDENTITY) {
      commands.push({ kind: 'identity', expected, ...readIdentity(bytes, at) });
    }
  }
  return commands;
}

describe('layout: round trip', () => {
  test('layout: round trip: any commands -> the same commands, a valid batch', () => {
    fc.assert(
      fc.property(fc.array(anyCommand, { maxLength: 12 }), (commands) => {
        const bytes = pack(commands);
        validateBatch(bytes, commands.length);
        expect(unpack(bytes)).toEqual(commands);
      }),
    );
  });

  test('layout: round trip: shared memory at an odd offset -> the same message', () => {
    const command = message(9);
    const memory = new Uint8Array(new SharedArrayBuffer(200), 13, sizeOf(command));
    memory.set(pack([command]));
    validateBatch(memory, 1);
    expect({ kind: 'message', ...readMessage(memory, 0) }).toEqual(command);
  });

  test('layout: round trip: parts are views, nothing is copied', () => {
    const bytes = pack([message(9)]);
    const { subject, headers, payload } = readMessage(bytes, 0);
    expect([subject.buffer, headers.buffer, payload.buffer]).toEqual([
      bytes.buffer,
      bytes.buffer,
      bytes.buffer,
    ]);
    bytes.fill(0x78, 32);
    expect(Buffer.from(subject).toString()).toBe('xxx');
  });
});

describe('layout: writing', () => {
  test.each([-1, 0.5, Number.NaN, MAX + 1, Number.POSITIVE_INFINITY])(
    'layout: writing: %s as a number -> badRecord',
    (value) => {
      expect(refusal(() => pack([skip(value)]))).toEqual({ code: 'badRecord', at: 8 });
      expect(refusal(() => pack([skipMsgs(1, value)]))).toEqual({ code: 'badRecord', at: 16 });
    },
  );

  test('layout: writing: a subject of 65,535 bytes fits, one more -> tooLarge', () => {
    const none = new Uint8Array(0);
    const write = (length: number): number => {
      const bytes = new Uint8Array(messageSize(length, 0, 0));
      const fields = { seq: 1, timestamp: 0n, headers: none, payload: none };
      writeMessage(bytes, viewOf(bytes), 0, { ...fields, subject: new Uint8Array(length) });
      return readMessage(bytes, 0).subject.length;
    };
    expect(write(65_535)).toBe(65_535);
    expect(refusal(() => write(65_536))).toEqual({ code: 'tooLarge', at: undefined });
  });
});

/** The bytes of `command` with some of them changed. */
function altered(command: Command, alter: (view: DataView) => void): Uint8Array {
  const bytes = pack([command]);
  alter(viewOf(bytes));
  return bytes;
}

/** 2^53 at an offset, little-endian. */
function tooHigh(at: number): (view: DataView) => void {
  return (view) => {
    view.setBigUint64(at, 2n ** 53n, true);
  };
}

describe('layout: validate', () => {
  const plain = message(3);
  test.each<[string, Uint8Array, number, number]>([
    ['no record where one is promised', new Uint8Array(0), 1, 0],
    ['half a head', pack([skip(1)]).subarray(0, 8), 1, 0],
    ['a record cut short', pack([plain]).subarray(0, sizeOf(plain) - 8), 1, 0],
    ['more records than promised', pack([skip(1), skip(2)]), 1, 16],
    ['fewer records than promised', pack([skip(1)]), 2, 16],
    ['size zero', altered(plain, (view) => view.setUint32(0, 0, true)), 1, 0],
    ['size no multiple of 8', altered(plain, (view) => view.setUint32(0, 36, true)), 1, 0],
    ['size beyond the batch', altered(plain, (view) => view.setUint32(0, 4096, true)), 1, 0],
    ['size below the fixed part', altered(plain, (view) => view.setUint32(0, 16, true)), 1, 0],
    ['kind 0', altered(plain, (view) => view.setUint8(4, 0)), 1, 4],
    ['kind 6', altered(plain, (view) => view.setUint8(4, 6)), 1, 4],
    ['a skip as large as a range', altered(skipMsgs(1, 1), (v) => v.setUint8(4, 2)), 1, 0],
    ['a range as small as a skip', altered(skip(1), (v) => v.setUint8(4, 3)), 1, 0],
    ['subject longer than its record', altered(plain, (v) => v.setUint16(6, 900, true)), 1, 0],
    ['headers longer than the record', altered(plain, (v) => v.setUint32(24, 900, true)), 1, 0],
    ['payload shorter than the record', altered(plain, (v) => v.setUint32(28, 1, true)), 1, 0],
    [
      'name longer than its record',
      altered(identity('X', 1n), (v) => v.setUint32(24, 9, true)),
      1,
      0,
    ],
    ['expected 2^53', altered(plain, tooHigh(8)), 1, 8],
    ['count 2^53', altered(skipMsgs(1, 1), tooHigh(16)), 1, 16],
    ['first 2^53', altered(reset(0, 1), tooHigh(16)), 1, 16],
    ['first 0', pack([reset(0, 0)]), 1, 16],
    ['a skip to 2^53', pack([skip(MAX)]), 1, 8],
    ['a range to 2^53', pack([skipMsgs(3, MAX - 1)]), 1, 16],
  ])('layout: validate: %s -> badRecord', (_, bytes, count, at) => {
    expect(refusal(() => validateBatch(bytes, count))).toEqual({ code: 'badRecord', at });
  });

  test('layout: validate: lengths that add up to 2^32 -> badRecord, they do not wrap', () => {
    const subject = utf8('12345678');
    const empty = { headers: new Uint8Array(0), payload: new Uint8Array(0) };
    const whole: Command = { kind: 'message', seq: 1, timestamp: 0n, subject, ...empty };
    const bytes = altered(whole, (view) => {
      view.setUint32(24, 0xffff_ffff, true);
      view.setUint32(28, 1, true);
    });
    expect(refusal(() => validateBatch(bytes, 1))).toEqual({ code: 'badRecord', at: 0 });
  });

  test('layout: validate: the highest reach of each kind -> accepted', () => {
    const highest = [message(MAX, 0n), skip(MAX - 1), skipMsgs(3, MAX - 2), reset(MAX, MAX)];
    validateBatch(pack(highest), 4);
    validateBatch(pack([identity('X', 1n, MAX)]), 1);
    expect(unpack(pack(highest))).toEqual(highest);
  });

  test('layout: validate: padding and reserved bytes that are not zero -> accepted', () => {
    const bytes = altered(message(1), (view) => {
      view.setUint8(5, 9);
      view.setUint8(view.byteLength - 1, 9);
    });
    const { subject, headers, payload } = readMessage(bytes, 0);
    validateBatch(bytes, 1);
    expect(32 + subject.length + headers.length + payload.length).toBeLessThan(bytes.length);
    expect({ kind: 'message', ...readMessage(bytes, 0) }).toEqual(message(1));
  });

  test('layout: validate: any one byte of a head changed -> refused or still walkable', () => {
    const commands = [message(1), skipMsgs(2, 3), identity('X', 1n), message(5)];
    const pristine = pack(commands);
    fc.assert(
      fc.property(fc.nat(pristine.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const bytes = pristine.slice();
        bytes[at]! ^= flip;
        try {
          validateBatch(bytes, commands.length);
        } catch (error) {
          expect(error).toMatchObject({ code: 'badRecord' });
          return;
        }
        expect(unpack(bytes)).toHaveLength(commands.length);
      }),
    );
  });
});

describe('layout: validate messages', () => {
  test('layout: validate messages: rising with gaps -> accepted', () => {
    const bytes = pack([...messages(1, 3), message(9), message(MAX, 0n)]);
    validateMessages(bytes, 5);
    expect(unpack(bytes)).toHaveLength(5);
  });

  test.each<[string, readonly Command[], number]>([
    ['a skip among them', [skip(1)], 4],
    ['the same sequence twice', [message(3), message(3)], sizeOf(message(3)) + 8],
    ['a falling sequence', [message(3), message(2)], sizeOf(message(3)) + 8],
  ])('layout: validate messages: %s -> badRecord', (_, commands, at) => {
    const bytes = pack(commands);
    expect(refusal(() => validateMessages(bytes, commands.length))).toEqual({
      code: 'badRecord',
      at,
    });
  });

  test('layout: validate messages: one more than promised -> badRecord', () => {
    const bytes = pack(messages(1, 2));
    const at = sizeOf(message(1));
    expect(refusal(() => validateMessages(bytes, 1))).toEqual({ code: 'badRecord', at });
  });
});
