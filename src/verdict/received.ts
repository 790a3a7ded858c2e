/**
 * What somebody else received, a service behind the mirror say, against what was handed out: each
 * message once, in order, as it was. Nothing is asked of how it came; sequences, ids of one's own
 * or the bodies alone say which message is which.
 */
import { LockstepError, usageError } from '../base/errors.js';
import type { Hasher } from '../base/hasher.js';
import { DIGEST_BLOCK } from '../base/limits.js';
import type { SeqRange } from '../stream/types.js';
import { setOf } from './ranges.js';
import type { LedgerReader } from './types.js';

/** One message: its sequence or an id, and its body. Without a body nothing is said of it. */
export interface ReceivedMessage {
  readonly seq?: number | undefined;
  readonly id?: string | undefined;
  /** Text is UTF-8. */
  readonly body?: string | Uint8Array | undefined;
}

export type ReceivedKind = 'lost' | 'duplicated' | 'reordered' | 'corrupt' | 'phantom';

export interface ReceivedReport {
  readonly counts: Readonly<Record<'ok' | ReceivedKind, number>>;
  /** The first few of each kind, one line each. */
  readonly named: readonly string[];
}

export interface ReceivedOptions {
  /** At least once is enough; by default a second time is a finding. */
  readonly duplicates?: 'allowed' | undefined;
}

const NAMED_OF_A_KIND = 5;
/** Sequences of one read. */
const READ = 4 * DIGEST_BLOCK;
const ENCODER = new TextEncoder();

/** One message that was handed out. */
interface Handed {
  readonly name: string;
  readonly order: number;
  /** Bodies that it may have; empty: any. */
  readonly bodies: bigint[];
  /** It may be missing as well: passed over by some opening, or a sentinel. */
  readonly mayLack: boolean;
  seen: boolean;
}

/** Messages of one body. */
interface Alike {
  readonly entries: Handed[];
  /** All before this position came already. */
  unseen: number;
}

/**
 * Compares in the order in which messages were received. One that came too late or too early is
 * reordered: as few as explain the order are named.
 *
 * @param handed  a cluster's ledger, or what was published, in order
 * Errors: usage, when a message cannot be told from others.
 */
export async function judgeReceived(
  received: readonly ReceivedMessage[],
  handed: LedgerReader | readonly ReceivedMessage[],
  hasher: Hasher,
  { duplicates }: ReceivedOptions = {},
): Promise<ReceivedReport> {
  const book = new HandedBook(hasher);
  if ('report' in handed) await book.read(handed);
  else book.published(handed);
  const findings = new Findings();
  const arrived: { readonly entry: Handed; readonly at: number }[] = [];
  for (const [at, message] of received.entries()) {
    const where = `received[${at}]`;
    const entry = book.find(message, where);
    if (entry === undefined) {
      findings.add('phantom', `${where}: ${nameOf(message)} was never handed out`);
      continue;
    }
    const other = book.otherBody(message, entry);
    if (other !== null) {
      entry.seen = true;
      findings.add('corrupt', `${where}: ${entry.name} has ${other}`);
    } else if (!entry.seen) {
      entry.seen = true;
      arrived.push({ entry, at });
    } else if (duplicates !== 'allowed') {
      findings.add('duplicated', `${where}: ${entry.name} came before`);
    }
  }
  const inOrder = longestRising(arrived.map(({ entry }) => entry.order));
  for (const [position, { entry, at }] of arrived.entries()) {
    if (!inOrder.has(position)) findings.add('reordered', `received[${at}]: ${entry.name}`);
  }
  for (const { name, seen, mayLack } of book.all) {
    if (!seen && !mayLack) findings.add('lost', `${name} never came`);
  }
  return findings.report(inOrder.size);
}

/** What was handed out, to be found by sequence, id or body. */
class HandedBook {
  readonly all: Handed[] = [];
  readonly #hasher: Hasher;
  readonly #named = new Map<string, Handed>();
  readonly #byBody = new Map<bigint, Alike>();
  #hasIds = false;

  constructor(hasher: Hasher) {
    this.#hasher = hasher;
  }

  /** Of a ledger: what some opening delivered. */
  async read(ledger: LedgerReader): Promise<void> {
    const { delivered, passedOver, sentinel } = await ledger.report();
    const over = setOf(passedOver);
    for (const range of delivered.flatMap(inReads)) {
      for (const { seq, payload } of await ledger.records(range)) {
        const name = `seq ${seq}`;
        const entry = this.#named.get(name);
        if (entry !== undefined) this.#body(entry, payload);
        else this.#add(name, payload, seq === sentinel || over.has(seq));
      }
    }
  }

  published(messages: readonly ReceivedMessage[]): void {
    for (const [at, message] of messages.entries()) {
      const name = nameOf(message);
      const where = `published[${at}]`;
      if (name === NAMELESS) throw unnamed(where, 'neither seq nor id');
      if (this.#named.has(name)) throw usageError(where, name, 'used once only');
      this.#hasIds ||= message.seq === undefined;
      this.#add(name, this.#digest(message), false);
    }
  }

  /** By its own name; else by its body, the first one that did not come yet. */
  find(message: ReceivedMessage, where: string): Handed | undefined {
    if (message.seq !== undefined || this.#hasIds) {
      const name = nameOf(message);
      if (name === NAMELESS) throw unnamed(where, 'neither seq nor id');
      return this.#named.get(name);
    }
    const digest = this.#digest(message);
    if (digest === null) throw unnamed(where, 'neither seq nor id nor body');
    const alike = this.#byBody.get(digest);
    if (alike === undefined) return undefined;
    const { entries } = alike;
    while (entries[alike.unseen]?.seen === true) alike.unseen++;
    return entries[alike.unseen] ?? entries.at(-1);
  }

  /** What it has in place of its body; null: its own, or nothing is known of one of them. */
  otherBody(message: ReceivedMessage, { bodies }: Handed): string | null {
    const digest = this.#digest(message);
    if (digest === null || bodies.length === 0 || bodies.includes(digest)) return null;
    const other = this.#byBody.get(digest)?.entries[0];
    return other === undefined ? 'a body that nothing has' : `the body of ${other.name}`;
  }

  #add(name: string, digest: bigint | null, mayLack: boolean): void {
    const entry = { name, order: this.all.length, bodies: [], mayLack, seen: false };
    this.all.push(entry);
    this.#named.set(name, entry);
    if (digest !== null) this.#body(entry, digest);
  }

  #body(entry: Handed, digest: bigint): void {
    entry.bodies.push(digest);
    const alike = this.#byBody.get(digest);
    if (alike === undefined) this.#byBody.set(digest, { entries: [entry], unseen: 0 });
    else alike.entries.push(entry);
  }

  #digest({ body }: ReceivedMessage): bigint | null {
    if (body === undefined) return null;
    return this.#hasher.hash64(typeof body === 'string' ? ENCODER.encode(body) : body);
  }
}

class Findings {
  readonly #counts = { lost: 0, duplicated: 0, reordered: 0, corrupt: 0, phantom: 0 };
  readonly #named: string[] = [];

  add(kind: ReceivedKind, text: string): void {
    this.#counts[kind]++;
    if (this.#counts[kind] <= NAMED_OF_A_KIND) this.#named.push(`${kind}: ${text}`);
  }

  report(ok: number): ReceivedReport {
    return { counts: { ok, ...this.#counts }, named: this.#named };
  }
}

const NAMELESS = 'a message';

function nameOf({ seq, id }: ReceivedMessage): string {
  if (seq !== undefined) return `seq ${seq}`;
  return id === undefined ? NAMELESS : `id ${id}`;
}

function unnamed(where: string, lacks: string): Error {
  return new LockstepError('usage', `${where}: it has ${lacks}, by which it could be told`);
}

function inReads({ first, last }: SeqRange): SeqRange[] {
  const reads: SeqRange[] = [];
  for (let from = first; from <= last; from += READ) {
    reads.push({ first: from, last: Math.min(last, from + READ - 1) });
  }
  return reads;
}

/** Positions of a longest rising subsequence, in n log n. */
function longestRising(values: readonly number[]): ReadonlySet<number> {
  /** For each length, the position at which the lowest such subsequence ends. */
  const ends: number[] = [];
  const before: number[] = [];
  for (const [position, value] of values.entries()) {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (values[ends[middle]!]! < value) low = middle + 1;
      else high = middle;
    }
    before.push(low === 0 ? -1 : ends[low - 1]!);
    ends[low] = position;
  }
  const rising = new Set<number>();
  for (let at = ends.at(-1) ?? -1; at !== -1; at = before[at]!) rising.add(at);
  return rising;
}
