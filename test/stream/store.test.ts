import { beforeAll, describe, expect, test } from 'vitest';
import { loadHasher, type Hasher } from '../../src/base/hasher.js';
import { chainHash, Store } from '../../src/stream/store.js';
import type { ApplyOutcome } from '../../src/stream/types.js';
import {
  identity,
  message,
  messages,
  pack,
  reset,
  skip,
  skipMsgs,
  type Command,
} from './batches.js';

let hasher: Hasher;
beforeAll(async () => {
  hasher = await loadHasher();
});

function storeOf(...commands: readonly Command[]): Store {
  const store = new Store({ hasher });
  apply(store, ...commands);
  return store;
}

function apply(store: Store, ...commands: readonly Command[]): ApplyOutcome {
  return store.apply(pack(commands), commands.length);
}

function outcome(parts: Partial<ApplyOutcome>): ApplyOutcome {
  return { stored: 0, skipped: 0, seen: 0, mismatched: 0, firstMismatch: null, ...parts };
}

function mismatch(expected: number, last: number): Partial<ApplyOutcome> {
  return { mismatched: 1, firstMismatch: { expected, last } };
}

function state(first: number, last: number, count: number, deleted: number): unknown {
  return { first, last, messages: count, deleted };
}

describe('store: values of nats-server TestMemStoreSkipMsgs', () => {
  test('store: never touched -> first 0, last 0', () => {
    expect(storeOf().state()).toEqual(state(0, 0, 0, 0));
  });

  test('store: empty: skip (10, 100) -> mismatch, untouched', () => {
    const store = storeOf();
    expect(apply(store, skipMsgs(10, 100))).toEqual(outcome(mismatch(9, 0)));
    expect(store.state()).toEqual(state(0, 0, 0, 0));
  });

  test('store: empty: skip (1, 100), then (101, 100000) -> first is last + 1', () => {
    const store = storeOf(skipMsgs(1, 100));
    expect(store.state()).toEqual(state(101, 100, 0, 0));
    expect(apply(store, skipMsgs(101, 100_000))).toEqual(outcome({ skipped: 100_000 }));
    expect(store.state()).toEqual(state(100_101, 100_100, 0, 0));
    expect(store.gaps()).toEqual([]);
  });

  test('store: one message, skip (2, 10) -> first 1, last 11, 1 message, 10 deleted', () => {
    const store = storeOf(message(1), skipMsgs(2, 10));
    expect(store.state()).toEqual(state(1, 11, 1, 10));
    expect(store.gaps()).toEqual([{ first: 2, last: 11 }]);
  });

  test('store: leading skips -> the first message is first, they are not deleted', () => {
    const store = storeOf(skipMsgs(1, 5), message(6), skip(6), message(8));
    expect(store.state()).toEqual(state(6, 8, 2, 1));
    expect(store.gaps()).toEqual([{ first: 7, last: 7 }]);
    expect(store.skippedCount).toBe(6);
  });

  test('store: ten million skipped as one range and one by one -> the same gap', () => {
    const ranged = storeOf(message(1), skipMsgs(2, 10_000_000), message(10_000_002));
    expect(ranged.state()).toEqual(state(1, 10_000_002, 2, 10_000_000));
    expect(ranged.gaps()).toEqual([{ first: 2, last: 10_000_001 }]);
    const single = storeOf(message(1));
    for (let from = 1; from <= 20_000; from += 10_000) {
      apply(single, ...Array.from({ length: 10_000 }, (_, at) => skip(from + at)));
    }
    expect(single.gaps()).toEqual([{ first: 2, last: 20_001 }]);
  });
});

describe('store: skipRange against last (nats-server #8045)', () => {
  test('store: skipRange: the overlap table', () => {
    const store = storeOf(skipMsgs(1, 1_000));
    const steps: [Command, ApplyOutcome, number][] = [
      [skipMsgs(100, 401), outcome({ seen: 1 }), 1_000],
      [skipMsgs(1_001, 1_000), outcome({ skipped: 1_000 }), 2_000],
      [skipMsgs(1_501, 1_000), outcome({ skipped: 500 }), 2_500],
      [skipMsgs(2_501, 0), outcome({ seen: 1 }), 2_500],
      [skipMsgs(9_000, 0), outcome({ seen: 1 }), 2_500],
      [skipMsgs(2_502, 1), outcome(mismatch(2_501, 2_500)), 2_500],
    ];
    expect(steps.map(([command]) => [apply(store, command), store.lastSeq])).toEqual(
      steps.map(([, expected, last]) => [expected, last]),
    );
  });

  test('store: skipRange: straddling last behind messages -> they stay, only the tail goes', () => {
    const store = storeOf(...messages(1, 10));
    expect(apply(store, skipMsgs(6, 10))).toEqual(outcome({ skipped: 5 }));
    expect([store.state(), store.gaps()]).toEqual([state(1, 15, 10, 5), [{ first: 11, last: 15 }]]);
    expect(store.read(7)?.seq).toBe(7);
  });
});

describe('store: judging', () => {
  test('store: judging: never stops in a batch, each command by itself', () => {
    const store = storeOf(...messages(1, 3));
    const batch = [message(2), message(9), message(4), skip(3), skip(4), skip(9), message(6)];
    expect(apply(store, ...batch)).toEqual(
      outcome({
        stored: 2,
        skipped: 1,
        seen: 2,
        mismatched: 2,
        firstMismatch: { expected: 8, last: 3 },
      }),
    );
    expect([store.state(), store.gaps()]).toEqual([state(1, 6, 5, 1), [{ first: 5, last: 5 }]]);
  });

  test('store: judging: a message ahead is left out, its bytes are not kept', () => {
    const store = storeOf(message(1), message(3));
    expect([store.read(1)?.seq, store.read(2), store.read(3)]).toEqual([1, undefined, undefined]);
  });

  test('store: judging: a message seen again with other bytes -> the first stays', () => {
    const store = storeOf(message(1, 5n));
    expect(apply(store, message(1, 6n))).toEqual(outcome({ seen: 1 }));
    expect([store.read(1)?.timestamp, store.lastTime]).toEqual([5n, 5n]);
  });

  test('store: judging: an empty entry -> nothing', () => {
    const store = storeOf(message(1));
    expect(store.apply(new Uint8Array(0), 0)).toEqual(outcome({}));
    expect(store.state()).toEqual(state(1, 1, 1, 0));
  });

  test('store: judging: the last sequence that there is -> stored', () => {
    const top = Number.MAX_SAFE_INTEGER;
    const store = storeOf(skipMsgs(1, top - 1), message(top, 7n));
    expect([store.state(), store.lastTime]).toEqual([state(top, top, 1, 0), 7n]);
    expect(store.read(top)?.seq).toBe(top);
  });
});

describe('store: reset (nats-server #4249)', () => {
  test('store: reset: untouched -> jumps to first - 1, stores nothing', () => {
    const store = storeOf();
    expect(apply(store, reset(0, 500))).toEqual(outcome({ skipped: 499 }));
    expect([store.state(), store.gaps()]).toEqual([state(500, 499, 0, 0), []]);
    apply(store, message(500));
    expect(store.state()).toEqual(state(500, 500, 1, 0));
  });

  test('store: reset: empty but moved on -> only the rest is passed over', () => {
    const store = storeOf(skipMsgs(1, 10));
    expect(apply(store, reset(4, 21))).toEqual(outcome({ skipped: 10 }));
    expect(store.state()).toEqual(state(21, 20, 0, 0));
  });

  test.each<[string, Command[], Command, Partial<ApplyOutcome>]>([
    ['at or below last -> seen', messages(1, 5), reset(0, 6), { seen: 1 }],
    ['beyond last, with messages -> mismatch', messages(1, 5), reset(5, 7), mismatch(5, 5)],
    ['first 1 of an untouched store -> seen', [], reset(0, 1), { seen: 1 }],
    ['expects more than last -> mismatch', [], reset(3, 9), mismatch(3, 0)],
    ['expects more than last, moves nothing -> mismatch', [], reset(3, 4), mismatch(3, 0)],
  ])('store: reset: %s', (_, before, command, expected) => {
    const store = storeOf(...before);
    const untouched = store.state();
    expect(apply(store, command)).toEqual(outcome(expected));
    expect(store.state()).toEqual(untouched);
  });
});

describe('store: identity', () => {
  test('store: identity: none before -> set; no sequence, no count', () => {
    const store = storeOf();
    expect(apply(store, identity('ORDERS', 7n))).toEqual(outcome({}));
    expect([store.identity, store.state()]).toEqual([
      { name: 'ORDERS', created: 7n },
      state(0, 0, 0, 0),
    ]);
  });

  test('store: identity: what it expects does not matter', () => {
    const store = storeOf(...messages(1, 3));
    expect(store.identity).toBe(null);
    expect(apply(store, identity('ORDERS', 7n, 900))).toEqual(outcome({}));
    expect(store.identity).toEqual({ name: 'ORDERS', created: 7n });
  });

  test.each<[string, Command, Partial<ApplyOutcome>]>([
    ['the same -> seen', identity('ORDERS', 7n, 2), { seen: 1 }],
    ['another name -> mismatch', identity('ORDERZ', 7n, 2), mismatch(2, 3)],
    ['another life -> mismatch', identity('ORDERS', 8n, 2), mismatch(2, 3)],
    ['a byte order mark -> another name', identity('\ufeffORDERS', 7n, 2), mismatch(2, 3)],
  ])('store: identity: %s', (_, command, expected) => {
    const store = storeOf(identity('ORDERS', 7n), ...messages(1, 3));
    expect(apply(store, command, message(4))).toEqual(outcome({ ...expected, stored: 1 }));
    expect(store.identity).toEqual({ name: 'ORDERS', created: 7n });
  });
});

describe('store: last time (nats-server #8327)', () => {
  test('store: last time: skips of every kind leave it as it is', () => {
    const store = storeOf(message(1, -30n), skipMsgs(2, 10), skip(11), reset(12, 5));
    expect([store.lastSeq, store.lastTime]).toEqual([12, -30n]);
    apply(store, message(13, -15n), message(14, -14n), skip(14));
    expect([store.lastSeq, store.lastTime]).toEqual([15, -14n]);
  });

  test('store: last time: leading skips only -> 0', () => {
    expect(storeOf(skipMsgs(1, 4)).lastTime).toBe(0n);
  });
});

describe('store: bytes', () => {
  test('store: bytes: what is read is a view of what was applied', () => {
    const bytes = pack(messages(1, 40));
    const store = new Store({ hasher });
    store.apply(bytes, 40);
    const read = store.read(33)!;
    expect({ kind: 'message', ...read }).toEqual(message(33));
    expect([read.subject.buffer, read.payload.buffer]).toEqual([bytes.buffer, bytes.buffer]);
  });
});

describe('store: running hash', () => {
  const entry = pack(messages(1, 2));

  test('store: running hash: same entry, same outcome, same past -> same hash', () => {
    const stored = outcome({ stored: 2 });
    expect(chainHash(1n, entry.slice(), stored, hasher)).toBe(chainHash(1n, entry, stored, hasher));
  });

  test('store: running hash: another past, byte, length or outcome -> another hash', () => {
    const flipped = entry.slice();
    flipped[40]! ^= 1;
    const two = outcome({ seen: 2 });
    const hashes = [
      chainHash(1n, entry, two, hasher),
      chainHash(2n, entry, two, hasher),
      chainHash(1n, flipped, two, hasher),
      chainHash(1n, entry.subarray(8), two, hasher),
      chainHash(1n, entry, outcome({ stored: 1, mismatched: 1 }), hasher),
      chainHash(1n, entry, outcome({}), hasher),
      chainHash(1n, entry, outcome({ seen: 3 }), hasher),
      chainHash(1n, entry, outcome({ stored: 2 }), hasher),
      chainHash(1n, entry, outcome({ mismatched: 2 }), hasher),
      chainHash(1n, entry, outcome({ skipped: 2 }), hasher),
      chainHash(1n, entry, outcome({ skipped: 10 }), hasher),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});
