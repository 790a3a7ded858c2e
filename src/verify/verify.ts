/**
 * One verification of a mirror: facts, backlog, reading to the depth that was asked for, every
 * difference read again, a second look at the backlog. It publishes nothing but replies for flow
 * control, and changes nothing but consumers of its own.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LockstepError, toErrorData } from '../base/errors.js';
import type { Hasher } from '../base/hasher.js';
import { createPrng } from '../base/prng.js';
import type { Settings } from '../nats/settings.js';
import { counted } from '../report/text.js';
import { backlogReport, isSettled, sampleBacklog, SAMPLES_APART_MS } from './backlog.js';
import type { BacklogSample } from './backlog.js';
import { borderOf, MirrorComparison } from './comparison.js';
import { reportOf } from './conclude.js';
import {
  isReadElsewhere,
  readAll,
  readSome,
  untold,
  type ReadFrom,
  type ReadingTools,
} from './reading.js';
import { objectsOf, SEQUENCES_MAX, type ObjectFinding } from './objects.js';
import { recheck } from './recheck.js';
import { isBeyondOrigin } from './remarks.js';
import type { Depth, VerifyReport } from './result.js';
import { checkToken, restore, resumeToken, type ResumeToken } from './resume.js';
import type { Sample } from './sampling.js';
import { scopeOf } from './scope.js';
import { serversSay } from './servers-say.js';
import {
  changeBetween,
  openSides,
  readFacts,
  type Facts,
  type Sides,
  type SidesGiven,
} from './sides.js';
import type { SeqRange } from '../stream/types.js';
import { intersect, setOf, span } from '../verdict/ranges.js';

export interface VerifyRequest extends SidesGiven {
  readonly depth: Depth;
  /** Null: from the first that either has. */
  readonly from: number | null;
  /** Null: to the mirror's last. */
  readonly to: number | null;
  /** Of each side; null: as fast as it can. */
  readonly bytesPerSecond: number | null;
  readonly resume: ResumeToken | null;
  /** A user of the system account, through whom each server is asked; null: none is. */
  readonly sysSettings: Settings | null;
}

export interface VerifyProgress {
  readonly next: number;
  readonly from: number;
  readonly to: number;
  readonly messages: number;
  readonly bytes: number;
  readonly differences: number;
}

export interface VerifyTools {
  readonly hasher: Hasher;
  /** What is drawn is drawn of this. */
  readonly seed: number;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Ends the reading; what was found so far is told, as inconclusive. */
  readonly signal: AbortSignal;
  readonly progress: (progress: VerifyProgress) => void;
}

export interface VerifyOutcome {
  readonly report: VerifyReport;
  /** To go on with; null: there is nothing to go on with. */
  readonly token: ResumeToken | null;
}

const LOOK_EVERY_MS = 1_000;
const NS_PER_MS = 1_000_000n;

/** Errors: usage, one line, when there is nothing that could be compared; timeout at the start. */
export async function verifyMirror(
  request: VerifyRequest,
  tools: VerifyTools,
): Promise<VerifyOutcome> {
  const { sides, facts } = await openSides(request);
  await using _ = sides;
  const { sysSettings } = request;
  const said = sysSettings === null ? [] : await serversSay(sysSettings, facts);
  const verification = new Verification(request, tools, sides, facts, said);
  return await verification.run();
}

class Verification {
  readonly #request: VerifyRequest;
  readonly #tools: VerifyTools;
  readonly #sides: Sides;
  readonly #start: Facts;
  readonly #scope: SeqRange;
  readonly #load = { messages: 0, bytes: 0 };
  /** Servers' clock less ours, nanoseconds. */
  readonly #skew: bigint;
  #comparison: MirrorComparison;
  #sample: Sample | null = null;
  #servers: ReadFrom = [[], []];
  readonly #notes: string[];
  /** Whether all that was to be read was. */
  #isRead = false;
  /** Why it ended early; null: it did not. */
  #ended: string | null = null;

  constructor(
    request: VerifyRequest,
    tools: VerifyTools,
    sides: Sides,
    facts: Facts,
    notes: readonly string[],
  ) {
    this.#request = request;
    this.#notes = [...notes];
    this.#tools = tools;
    this.#sides = sides;
    this.#start = facts;
    this.#scope = scopeOf(request, facts);
    const ours = BigInt(tools.clock()) * NS_PER_MS;
    this.#skew = (facts.mirror.now ?? ours) - ours;
    this.#comparison = this.#newComparison(facts, request.depth === 'full');
  }

  async run(): Promise<VerifyOutcome> {
    await this.#resume();
    const backlog = await this.#backlog(this.#start);
    await this.#read();
    const facts = (await this.#again()) ?? this.#start;
    const second = this.#ended === null ? await this.#secondSample(backlog, facts) : null;
    const objects = this.#ended === null ? await this.#objects(facts) : [];
    const { depth } = this.#request;
    const { first: from, last: to } = this.#scope;
    const resumedAt = this.#request.resume?.next ?? null;
    const apis = new Set([this.#sides.origin.access.api, this.#sides.mirror.access.api]);
    const report = reportOf({
      start: this.#start,
      end: facts,
      comparison: this.#comparison,
      objects,
      reading: {
        ...{ depth, from, to, sample: this.#sample, resumedAt, servers: this.#servers },
        reached: this.#isRead ? to : Math.min(to, Math.max(from, this.#comparison.next) - 1),
      },
      backlog:
        backlog === null
          ? { status: 'unknown', messages: null, watchedMs: null }
          : backlogReport(backlog, second, facts.mirror),
      ended: this.#ended,
      notes: this.#notes,
      load: {
        msgs: this.#load.messages,
        bytes: this.#load.bytes,
        api_calls: [...apis].reduce((sum, { calls }) => sum + calls, 0),
      },
    });
    return { report, token: this.#token() };
  }

  async #resume(): Promise<void> {
    const { resume } = this.#request;
    if (resume === null) return;
    const { access, stream } = this.#sides.origin;
    const { border } = resume;
    const found = border === null ? null : await access.api.messageAt(stream, border.seq);
    const { hasher } = this.#tools;
    checkToken(resume, this.#start, found === null ? null : borderOf(found, hasher), hasher);
    restore(resume, this.#comparison);
  }

  /** One sample; without the permission for it the rest is still done. */
  async #backlog({ origin, mirror }: Facts): Promise<BacklogSample | null> {
    try {
      return await sampleBacklog(this.#sides.origin.access.api, origin, mirror);
    } catch (error) {
      const { detail, message } = toErrorData(error);
      if (detail?.['forbidden'] === undefined) throw error;
      this.#notes.push(`the backlog is not known: ${message}`);
      return null;
    }
  }

  /** Fills the comparison. What ends it early is kept as a reason. */
  async #read(): Promise<void> {
    const { depth } = this.#request;
    const tools = this.#readingTools();
    try {
      if (depth === 'full') {
        const { ended, servers } = await readAll(tools, this.#comparison);
        this.#servers = servers;
        this.#isRead = ended === 'ended';
      } else {
        const { ended, sample, notes } = await readSome(tools, depth, this.#comparison);
        this.#sample = sample;
        this.#notes.push(...notes);
        this.#isRead = ended === 'ended';
      }
      if (!this.#isRead) this.#ended = 'it was interrupted';
    } catch (error) {
      this.#ended = endingOf(error);
    }
  }

  #readingTools(): ReadingTools {
    const { bytesPerSecond, resume } = this.#request;
    const { signal, progress, seed } = this.#tools;
    const { first: from, last: to } = this.#scope;
    return {
      ...{ sides: this.#sides, facts: this.#start, load: this.#load, bytesPerSecond },
      scope: { first: resume === null ? from : Math.max(from, resume.next), last: to },
      prng: createPrng(seed),
      pause: () => {
        const { next, differences } = this.#comparison;
        const { messages, bytes } = this.#load;
        progress({ next, from, to, messages, bytes, differences: differences.total });
        return signal.aborted;
      },
    };
  }

  /** Both as they are at the end, the differences read again; null: nobody answers any more. */
  async #again(): Promise<Facts | null> {
    if (this.#ended !== null) return null;
    try {
      this.#comparison.settle();
      const facts = await readFacts(this.#sides);
      this.#ended = changeBetween(this.#start, facts);
      if (this.#ended === null) await this.#readUntold(facts);
      if (this.#ended === null) await this.#recheck(facts);
      return facts;
    } catch (error) {
      this.#ended = endingOf(error);
      return null;
    }
  }

  /** All of it again, on the leaders, if they hold what neither of those who were read did. */
  async #readUntold(facts: Facts): Promise<void> {
    if (this.#request.depth !== 'full') return;
    const tools = { ...this.#readingTools(), facts };
    const { scope } = tools;
    const count = untold(facts, scope, this.#comparison);
    if (count === 0) return;
    this.#comparison = this.#newComparison(this.#start, true);
    if (this.#request.resume !== null) restore(this.#request.resume, this.#comparison);
    const { ended, servers } = await readAll(tools, this.#comparison, true);
    this.#servers = servers;
    this.#isRead = ended === 'ended';
    this.#comparison.settle();
    const left = untold(facts, scope, this.#comparison);
    if (!this.#isRead) this.#ended = 'it was interrupted';
    else if (left === 0)
      this.#comparison.explained.tally('settled', scope.first, scope.last, count);
    else {
      // Where it lies nobody knows, so nothing that was read is to be gone on from.
      this.#comparison.next = scope.first;
      this.#isRead = false;
      this.#ended = `a leader counts ${counted(left, 'message')} more than it delivers`;
    }
  }

  async #recheck(facts: Facts): Promise<void> {
    const first = this.#comparison;
    const { origin, mirror } = facts;
    // The leader alone says where the origin ends: what lies above is beyond it, and no more.
    const upToEnd = span(1, origin.state.last_seq);
    const found = intersect(setOf(rangesOf(first.differences.all())).ranges(), upToEnd);
    if (isBeyondOrigin(facts)) {
      const last = Math.min(mirror.state.last_seq, this.#scope.last);
      first.beyond({ first: Math.max(this.#scope.first, origin.state.last_seq + 1), last });
    }
    const isResumed = this.#request.resume !== null;
    const leaders = isResumed ? [null] : [this.#start.origin.leader, origin.leader];
    const isDoubtful = isReadElsewhere(this.#servers[0], leaders);
    // What lies outside of the leader's bounds is gone there too.
    const bounds = span(origin.state.first_seq, origin.state.last_seq);
    const doubtful = isDoubtful ? intersect(first.explained.ranges('kept'), bounds) : [];
    if (found.length === 0 && doubtful.length === 0) return;
    const { hasher, signal } = this.#tools;
    const { bytesPerSecond } = this.#request;
    const second = await recheck(
      {
        ...{ sides: this.#sides, facts, hasher, bytesPerSecond, load: this.#load },
        now: () => this.#now(),
        pause: () => signal.aborted,
      },
      setOf([...found, ...doubtful]).ranges(),
    );
    if (signal.aborted) this.#ended = 'it was interrupted';
    else this.#comparison = first.confirmedBy(second, doubtful);
  }

  /** Once the mirror has passed what was the origin's end, or long enough after the first. */
  async #secondSample(first: BacklogSample | null, facts: Facts): Promise<BacklogSample | null> {
    if (first === null || isSettled(first, facts.mirror)) return null;
    try {
      let now = await readFacts(this.#sides);
      while (
        performance.now() - first.atMs < SAMPLES_APART_MS &&
        now.mirror.state.last_seq < first.originLast
      ) {
        await sleep(LOOK_EVERY_MS, undefined, { signal: this.#tools.signal });
        now = await readFacts(this.#sides);
      }
      this.#ended = changeBetween(facts, now);
      return await sampleBacklog(this.#sides.origin.access.api, now.origin, now.mirror);
    } catch (error) {
      this.#ended = this.#tools.signal.aborted ? 'it was interrupted' : endingOf(error);
      return null;
    }
  }

  /** Names what differs of an object store; the result stands without that. */
  async #objects(facts: Facts): Promise<readonly ObjectFinding[]> {
    const { bytesPerSecond } = this.#request;
    const asked = { sides: this.#sides, facts, bytesPerSecond, load: this.#load };
    try {
      const { objects, hasMore } = await objectsOf(asked, this.#comparison);
      if (hasMore) this.#notes.push(`objects are those of the first ${SEQUENCES_MAX} sequences`);
      return objects;
    } catch (error) {
      this.#notes.push(`objects are not told: ${toErrorData(error).message}`);
      return [];
    }
  }

  #token(): ResumeToken | null {
    if (this.#ended === null || this.#request.depth !== 'full') return null;
    const { first: from, last: upTo } = this.#scope;
    // What waited for an excuse is read again once the rest was read: it must not be forgotten.
    this.#comparison.settle();
    return resumeToken(this.#start, { from, upTo }, this.#comparison, this.#tools.hasher);
  }

  #newComparison(facts: Facts, isWhole: boolean): MirrorComparison {
    const { hasher } = this.#tools;
    return new MirrorComparison({ ...facts, hasher, isWhole, now: () => this.#now() });
  }

  #now(): bigint {
    return BigInt(this.#tools.clock()) * NS_PER_MS + this.#skew;
  }
}

/** Of the findings, to be read again. */
function rangesOf(found: ReturnType<MirrorComparison['differences']['all']>): SeqRange[] {
  return found.flatMap(({ ranges, first, last }) => ranges ?? [{ first, last }]);
}

/** A permission that is missing is the caller's to give; all else ends the reading. */
function endingOf(error: unknown): string {
  const { code, message, detail } = toErrorData(error);
  if (detail?.['forbidden'] !== undefined) {
    const advice = message.includes('.CONSUMER.') ? ': allow it, or use --depth state' : '';
    throw new LockstepError('usage', `${message}${advice}`);
  }
  if (code !== 'timeout' && code !== 'originRefused') throw error;
  return message;
}
