/**
 * The store against a naive one, a Map with an entry for each sequence, over random batches: in
 * order, overlapping, ahead, with resets and identities.
 */
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { loadHasher, type Hasher } from '../../src/base/hasher.js';
import { Store } from '../../src/stream/store.js';
import type { ApplyOutcome, SeqRange, StreamState } from '../../src/stream/types.js';
import { identity, message, pack, reset, skip, skipMsgs, type Command } from './batches.js';

let hasher: Hasher;
beforeAll(async () => {
  hasher = await loadHasher();
});

type Tally = { -readonly [Field in keyof ApplyOutcome]: ApplyOutcome[Field] };

class NaiveStore {
  readonly held = new Map<number, Command | 'skipped'>();
  last = 0;
  lastTime = 0n;
  identity: { name: string; created: bigint } | null = null;

  apply(commands: readonly Command[]): ApplyOutcome {
    const tally: Tally = { stored: 0, skipped: 0, seen: 0, mismatched: 0, firstMismatch: null };
    for (const command of commands) this.#judge(command, tally);
    return tally;
  }

  #judge(command: Command, tally: Tally): void {
    if (command.kind === 'message') {
      if (command.seq <= this.last) tally.seen++;
      else if (command.seq > this.last + 1) this.#mismatch(command.seq - 1, tally);
      else {
        this.held.set(++this.last, command);
        this.lastTime = command.timestamp;
        tally.stored++;
      }
    } else if (command.kind === 'identity') {
      const found = { name: Buffer.from(command.name).toString(), created: command.created };
      if (this.identity === null) this.identity = found;
      else if (this.identity.name === found.name && this.identity.created === found.created) {
        tally.seen++;
      } else this.#mismatch(command.expected, tally);
    } else this.#pass(command, tally);
  }

  #pass(command: Exclude<Command, { kind: 'message' | 'identity' }>, tally: Tally): void {
    const { expected } = command;
    let end = expected + 1;
    if (command.kind === 'skipRange') end = expected + command.count;
    if (command.kind === 'reset') end = command.first - 1;
    const refused = command.kind === 'reset' && this.messages.length > 0;
    const nothing = command.kind === 'skipRange' && command.count === 0;
    if (end <= this.last || nothing) tally.seen++;
    else if (expected > this.last || refused) this.#mismatch(expected, tally);
    else {
      while (this.last < end) {
        this.held.set(++this.last, 'skipped');
        tally.skipped++;
      }
    }
  }

  #mismatch(expected: number, tally: Tally): void {
    tally.mismatched++;
    tally.firstMismatch ??= { expected, last: this.last };
  }

  get messages(): number[] {
    return [...this.held].filter(([, what]) => what !== 'skipped').map(([seq]) => seq);
  }

  get interior(): number[] {
    const first = this.messages[0];
    if (first === undefined) return [];
    return [...this.held.keys()].filter((seq) => seq > first && this.held.get(seq) === 'skipped');
  }

  state(): StreamState {
    const [first] = this.messages;
    const empty = this.last === 0 ? 0 : this.last + 1;
    return {
      first: first ?? empty,
      last: this.last,
      messages: this.messages.length,
      deleted: this.interior.length,
    };
  }
}

function seqsOf(ranges: readonly SeqRange[]): number[] {
  return ranges.flatMap(({ first, last }) =>
    Array.from({ length: last - first + 1 }, (_, at) => first + at),
  );
}

/** What one draw means depends on where the store is: `off` is mostly 0, in order. */
interface Draw {
  readonly what: 'messages' | 'skips' | 'range' | 'reset' | 'identity';
  readonly off: number;
  readonly count: number;
}

const off = fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: -20, max: 4 }));
const draw: fc.Arbitrary<Draw> = fc.record({
  what: fc.constantFrom('messages', 'messages', 'skips', 'range', 'reset', 'identity'),
  off,
  count: fc.nat(25),
});

/** The commands of a batch, each near where a store that took those before it would stand. */
function commandsOf(draws: readonly Draw[], start: number): Command[] {
  const commands: Command[] = [];
  let last = start;
  for (const { what, off, count } of draws) {
    const expected = Math.max(0, last + off);
    const run = Array.from({ length: count }, (_, at) => expected + at);
    if (what === 'messages') commands.push(...run.map((before) => message(before + 1)));
    if (what === 'skips') commands.push(...run.map(skip));
    if (what === 'range') commands.push(skipMsgs(expected + 1, count));
    if (what === 'reset') commands.push(reset(expected, expected + count + 1));
    if (what === 'identity') commands.push(identity(`O${count % 2}`, BigInt(count % 3), expected));
    if (what !== 'identity' && off <= 0) last = Math.max(last, expected + count);
  }
  return commands;
}

test('store: model: any batches -> outcomes, state, gaps and messages of a naive store', () => {
  fc.assert(
    fc.property(fc.array(fc.array(draw, { maxLength: 6 }), { maxLength: 10 }), (batches) => {
      const store = new Store({ hasher });
      const naive = new NaiveStore();
      for (const draws of batches) {
        const commands = commandsOf(draws, naive.last);
        expect(store.apply(pack(commands), commands.length)).toEqual(naive.apply(commands));
        const { last, lastTime, identity } = naive;
        expect([store.state(), store.lastSeq, store.lastTime, store.identity]).toEqual([
          naive.state(),
          last,
          lastTime,
          identity,
        ]);
        expect(seqsOf(store.gaps())).toEqual(naive.interior);
        expect([store.messages, store.skippedCount]).toEqual([
          naive.messages.length,
          last - naive.messages.length,
        ]);
      }
      const probes = Array.from({ length: naive.last + 2 }, (_, seq) => seq);
      expect(probes.map((seq) => store.read(seq))).toEqual(
        probes.map((seq) => {
          const held = naive.held.get(seq);
          if (held === undefined || held === 'skipped' || held.kind !== 'message') return undefined;
          const { kind: _, ...parts } = held;
          return parts;
        }),
      );
    }),
    { numRuns: 200 },
  );
});
