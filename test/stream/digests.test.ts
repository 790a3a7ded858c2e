import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadHasher, type Hasher } from '../../src/base/hasher.js';
import { DIGEST_BLOCK } from '../../src/base/limits.js';
import { Store } from '../../src/stream/store.js';
import { message, messages, pack, skipMsgs, utf8, type Command } from './batches.js';
import { CorruptingStore } from './corrupting.js';

let hasher: Hasher;
beforeAll(async () => {
  hasher = await loadHasher();
});

type Digests = readonly (readonly [number, bigint])[];

function digests(store: Store): Digests {
  const { blocks, digests } = store.blockDigests();
  return [...blocks].map((block, at) => [block, digests[at]!]);
}

/** What the digests have to be: xxh64 over the packed records of each block. */
function expected(commands: readonly Command[]): Digests {
  const blocks = new Map<number, Command[]>();
  for (const command of commands) {
    if (command.kind !== 'message') continue;
    const block = Math.floor((command.seq - 1) / DIGEST_BLOCK);
    blocks.set(block, [...(blocks.get(block) ?? []), command]);
  }
  return [...blocks].map(([block, held]) => [block, hasher.hash64(pack(held))]);
}

/** Applies the commands cut before each of `cuts`. */
function applied(commands: readonly Command[], cuts: readonly number[], store: Store): Store {
  const borders = [...new Set(cuts)].sort((a, b) => a - b);
  let from = 0;
  for (const to of [...borders, commands.length]) {
    const batch = commands.slice(from, to);
    store.apply(pack(batch), batch.length);
    from = Math.max(from, to);
  }
  return store;
}

const COMMANDS = [
  ...messages(1, 1_500),
  skipMsgs(1_501, 20),
  ...messages(1_521, 2_048),
  skipMsgs(2_049, 3_000),
  ...messages(5_049, 5_200),
];

describe('digests', () => {
  test('digests: of a stream with gaps -> xxh64 of each block, empty blocks left out', () => {
    const store = applied(COMMANDS, [], new Store({ hasher }));
    expect(digests(store).map(([block]) => block)).toEqual([0, 1, 4, 5]);
    expect(digests(store)).toEqual(expected(COMMANDS));
  });

  test('digests: any cut into batches -> the same, asked in between or not', () => {
    const whole = expected(COMMANDS);
    fc.assert(
      fc.property(
        fc.array(fc.nat(COMMANDS.length), { maxLength: 12 }),
        fc.nat(COMMANDS.length),
        (cuts, asked) => {
          expect(digests(applied(COMMANDS, cuts, new Store({ hasher })))).toEqual(whole);
          const store = new Store({ hasher });
          applied(
            COMMANDS.slice(0, asked),
            cuts.filter((cut) => cut < asked),
            store,
          );
          expect(digests(store)).toEqual(expected(COMMANDS.slice(0, asked)));
          applied(COMMANDS.slice(asked), [], store);
          expect(digests(store)).toEqual(whole);
        },
      ),
      { numRuns: 25 },
    );
  });

  test('digests: an empty store, one that only skipped -> none', () => {
    const skipped = applied([skipMsgs(1, 5_000_000_000)], [], new Store({ hasher }));
    expect([digests(new Store({ hasher })), digests(skipped)]).toEqual([[], []]);
  });

  test('digests: the borders of a block -> its last sequence belongs to it', () => {
    const edge = messages(1, DIGEST_BLOCK + 1);
    const store = applied(edge.slice(0, DIGEST_BLOCK - 1), [], new Store({ hasher }));
    const seen: Digests[] = [digests(store)];
    for (const command of edge.slice(DIGEST_BLOCK - 1)) {
      applied([command], [], store);
      seen.push(digests(store));
    }
    expect(seen).toEqual([
      expected(edge.slice(0, DIGEST_BLOCK - 1)),
      expected(edge.slice(0, DIGEST_BLOCK)),
      expected(edge),
    ]);
  });

  test('digests: a block with only its last sequence -> is there, its neighbours are not', () => {
    const lonely = [skipMsgs(1, 2_047), message(2_048), skipMsgs(2_049, 2_000), message(4_049)];
    const store = applied(lonely, [], new Store({ hasher }));
    expect(digests(store).map(([block]) => block)).toEqual([1, 3]);
    expect(digests(store)).toEqual(expected(lonely));
  });

  test('digests: complete blocks -> hashed once', () => {
    let calls = 0;
    const counting: Hasher = {
      hash64: (bytes, seed) => {
        calls++;
        return hasher.hash64(bytes, seed);
      },
      stream64: () => {
        calls++;
        return hasher.stream64();
      },
    };
    const store = applied(messages(1, 3 * DIGEST_BLOCK + 5), [], new Store({ hasher: counting }));
    store.blockDigests();
    expect(calls).toBe(4);
    store.blockDigests();
    expect(calls).toBe(5);
  });
});

describe('digests: one corrupt byte (a store that changes what it was given)', () => {
  const held = messages(1, 2_100);

  test('digests: one corrupt byte -> its block differs, no other; the shared bytes do not', () => {
    const bytes = pack(held);
    const pristine = bytes.slice();
    const store = new CorruptingStore({ hasher, seq: 1_030 });
    store.apply(bytes, held.length);
    const sound = expected(held);
    expect(digests(store).map(([, digest], at) => digest === sound[at]![1])).toEqual([
      true,
      false,
      true,
    ]);
    expect(bytes).toEqual(pristine);
  });

  test('digests: one corrupt byte -> its part differs, no other', () => {
    const store = applied(held, [], new CorruptingStore({ hasher, seq: 1_030 }));
    const sound = applied(held, [], new Store({ hasher }));
    const range = { first: 1_025, last: 1_040 };
    const differing = store.partDigests(range).flatMap((parts, at) => {
      const right = sound.partDigests(range)[at]!;
      return Object.entries(parts)
        .filter(([part, digest]) => right[part as keyof typeof right] !== digest)
        .map(([part]) => [parts.seq, part]);
    });
    expect(differing).toEqual([[1_030, 'subject']]);
  });
});

describe('digests: parts', () => {
  test('digests: parts: of a range over a gap and two batches -> each message by its parts', () => {
    const commands = [message(1), message(2), skipMsgs(3, 2), message(5), message(6)];
    const store = applied(commands, [3], new Store({ hasher }));
    const parts = [2, 5].map((seq) => {
      const command = message(seq);
      if (command.kind !== 'message') throw new Error('a message is a message');
      return {
        seq,
        timestamp: command.timestamp,
        subject: hasher.hash64(utf8(`s.${seq % 5}`)),
        headers: hasher.hash64(command.headers),
        payload: hasher.hash64(command.payload),
      };
    });
    expect(store.partDigests({ first: 2, last: 5 })).toEqual(parts);
    expect(store.partDigests({ first: 3, last: 4 })).toEqual([]);
  });
});
