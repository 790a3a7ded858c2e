/**
 * Where replicas differed they are read again, after a moment: a follower may have been behind, a
 * message may have come or gone between two readings. What is left then is held against the
 * stream's limits. It knows replicas by their place among `servers` alone.
 */
import type { SeqRange, StoredMessage } from '../stream/types.js';
import { countOf, intersect, setOf, span, subtract, type Ranges } from '../verdict/ranges.js';
import { Findings } from './findings.js';
import { merge } from './merge.js';
import {
  isDifference,
  kindOf,
  NONE,
  ReplicaComparison,
  UNREAD,
  type Held,
  type Pattern,
} from './replica-comparison.js';
import { excuseOf, type ReplicaExcuse, type ReplicatedStream } from './replica-facts.js';
import type { ReplicaAccess, ReplicaReader } from './replica-access.js';
import { SupersededCandidates, type LaterOn } from './replica-superseded.js';
import type { MessagePart } from './record-compare.js';

/** What became of the differences that were found. */
export interface Rechecked {
  readonly differences: Findings<Pattern>;
  readonly explained: Findings<ReplicaExcuse>;
  /** Lacking on a replica that is not current: it may still come. */
  readonly behind: Findings<Pattern>;
  /** Seen once: a replica could not be read again, or they are too many for a limit to be asked. */
  readonly unconfirmed: Ranges;
  /** The first of the differences, with what is held there. */
  readonly examples: readonly HeldExample[];
  /** Parts in which contents differ, by number of sequences. */
  readonly parts: Readonly<Record<MessagePart, number>>;
}

export interface HeldExample {
  readonly seq: number;
  /** By place among the servers; null: none, or not read. */
  readonly held: readonly (StoredMessage | null)[];
  readonly pattern: Pattern;
}

/** Readings, a moment apart; what is many is read again once. */
const ROUNDS = 3;
const ROUND_AFTER_MS = 1_000;
const MANY = 200_000;
/** Ranges with less between them are read in one go. */
const NEAR = 10_000;
const WINDOWS_MAX = 100;
const EXAMPLES_MAX = 10;

/**
 * @param servers  those that were read
 * @param found  sequences at which they differed
 *
 * Errors: timeout, originRefused.
 */
export async function recheckReplicas(
  access: ReplicaAccess,
  servers: readonly string[],
  found: Ranges,
): Promise<Rechecked> {
  const explained = new Findings<ReplicaExcuse>();
  // Waiting for followers once more would tell nothing new.
  if (found.length === 0) return nothingFound();
  const rounds = countOf(found) > MANY ? 1 : ROUNDS;
  let left = found;
  for (let round = 1; ; round++) {
    await access.pauseMs(ROUND_AFTER_MS);
    const look = new Look(access, servers, await access.settled());
    await look.at(left);
    const { differences, behind, excused, unconfirmed, comparison } = look;
    const open = [...rangesIn(differences), ...rangesIn(behind), ...unconfirmed];
    const settled = subtract(left, unionOf([...open, ...rangesIn(excused)]));
    for (const { first, last } of settled) explained.tally('settled', first, last);
    for (const { kind, ranges } of excused.all()) {
      for (const { first, last } of ranges ?? []) explained.tally(kind, first, last);
    }
    left = unionOf(open);
    if (round === rounds || left.length === 0) {
      const { parts } = comparison;
      const examples = look.examples.filter(({ seq, pattern }) => differences.has(pattern, seq));
      return { differences, explained, behind, unconfirmed, examples, parts };
    }
  }
}

function nothingFound(): Rechecked {
  return {
    ...{ differences: new Findings(), explained: new Findings(), behind: new Findings() },
    ...{ unconfirmed: [], examples: [], parts: { time: 0, subject: 0, headers: 0, payload: 0 } },
  };
}

/** One reading of all that is left. */
class Look {
  readonly differences = new Findings<Pattern>();
  readonly behind = new Findings<Pattern>();
  readonly excused = new Findings<ReplicaExcuse>();
  readonly unconfirmed: SeqRange[] = [];
  readonly examples: HeldExample[] = [];
  readonly comparison: ReplicaComparison;
  readonly #access: ReplicaAccess;
  readonly #servers: readonly string[];
  readonly #stream: ReplicatedStream;
  /** By place among the servers. */
  readonly #isCurrent: readonly boolean[];
  readonly #candidates = new SupersededCandidates();
  #sources: readonly ReplicaReader[] = [];
  #wanted = setOf([]);

  constructor(access: ReplicaAccess, servers: readonly string[], stream: ReplicatedStream) {
    this.#access = access;
    this.#servers = servers;
    this.#stream = stream;
    this.#isCurrent = servers.map((server) => {
      const replica = stream.replicas.find((each) => each.server === server);
      return replica?.isCurrent === true && !replica.isOffline;
    });
    this.comparison = new ReplicaComparison({
      replicas: servers.length,
      isUnread: (replica, seq) => seq > this.#sources[replica]!.readTo,
      isWanted: (seq) => this.#wanted.has(seq),
      onDifference: (seq, pattern, held) => {
        this.#judge(seq, pattern, held);
      },
    });
  }

  async at(ranges: Ranges): Promise<void> {
    this.#wanted = setOf(ranges);
    for (const window of windowsOf(ranges)) await this.#read(window, ranges);
    const { maxPerSubject } = this.#stream.facts;
    const laterOn: LaterOn = (subject, seq) => this.#access.laterOn(subject, seq);
    await this.#candidates.judge(laterOn, maxPerSubject, ({ seq, pattern }, isSuperseded) => {
      if (isSuperseded) this.excused.add('per subject', seq);
      else this.differences.add(pattern, seq);
    });
  }

  async #read(window: SeqRange, ranges: Ranges): Promise<void> {
    const sources = await this.#access.open(this.#servers, window);
    try {
      this.#sources = sources;
      await merge(sources[0]!, sources.slice(1), this.comparison);
      const readTo = Math.min(...sources.map((source) => source.readTo));
      if (readTo >= window.last) return;
      const unread = intersect(ranges, span(Math.max(readTo + 1, window.first), window.last));
      const told = [this.differences, this.behind, this.excused].flatMap((each) => rangesIn(each));
      this.unconfirmed.push(...subtract(unread, unionOf(told)));
    } finally {
      await Promise.all(sources.map((source) => source.close()));
    }
  }

  #judge(seq: number, pattern: Pattern, held: Held): void {
    const { facts } = this.#stream;
    if (this.examples.length < EXAMPLES_MAX) {
      this.examples.push({ seq, pattern, held: held.map(copied) });
    }
    const message = held.find((each) => each !== null);
    if (kindOf(pattern) === 'changed' || message === undefined) this.differences.add(pattern, seq);
    else if (!isDifference(this.#withoutLate(pattern))) this.behind.add(pattern, seq);
    else {
      const excuse = excuseOf(message, facts, this.#access.now());
      if (excuse !== null) this.excused.add(excuse, seq);
      else if (facts.maxPerSubject <= 0) this.differences.add(pattern, seq);
      else {
        const subject = Buffer.from(message.subject).toString();
        const isAsked = this.#candidates.add(subject, { seq, pattern });
        if (!isAsked) this.unconfirmed.push({ first: seq, last: seq });
      }
    }
  }

  /** What a replica lacks that is not current says nothing. */
  #withoutLate(pattern: Pattern): Pattern {
    return Array.from(pattern, (held, at) =>
      held === NONE && !this.#isCurrent[at]! ? UNREAD : held,
    ).join('');
  }
}

/** Views are good for this moment alone. */
function copied(message: StoredMessage | null): StoredMessage | null {
  if (message === null) return null;
  const { subject, headers, payload } = message;
  return {
    ...message,
    subject: new Uint8Array(subject),
    headers: new Uint8Array(headers),
    payload: new Uint8Array(payload),
  };
}

function rangesIn<Kind extends string>(findings: Findings<Kind>): SeqRange[] {
  return findings.all().flatMap(({ ranges }) => [...(ranges ?? [])]);
}

function unionOf(ranges: Ranges): SeqRange[] {
  return setOf(ranges).ranges();
}

/** Few stretches that hold all of the ranges. */
function windowsOf(ranges: Ranges): SeqRange[] {
  if (ranges.length === 0) return [];
  const whole = ranges.at(-1)!.last - ranges[0]!.first + 1;
  const near = Math.max(NEAR, whole / WINDOWS_MAX);
  const windows: SeqRange[] = [];
  for (const { first, last } of ranges) {
    const before = windows.at(-1);
    if (before === undefined || first - before.last > near) windows.push({ first, last });
    else windows[windows.length - 1] = { first: before.first, last };
  }
  return windows;
}
