/** The origin's thread: wires ports to an origin source, made or live, and keeps its ledger. */
import { threadId } from 'node:worker_threads';
import { LockstepError, type Reply } from '../base/errors.js';
import type { Hasher } from '../base/hasher.js';
import type { Member } from '../base/member.js';
import { createPrng } from '../base/prng.js';
import type { OriginFrame } from '../mirror/types.js';
import { OriginContent } from '../origin/content.js';
import { OriginService } from '../origin/service.js';
import type { OriginSource, OriginTools } from '../origin/source.js';
import { strikeOrigin } from '../origin/strike.js';
import type { Arm } from '../scenario/arms.js';
import { withSecrets } from '../scenario/connection.js';
import { madeOrigin } from '../scenario/origins.js';
import type { FaultPlan, OriginAction } from '../scenario/types.js';
import type { SeqRange } from '../stream/types.js';
import { Ledger } from '../verdict/ledger.js';
import type { LedgerReport, RecordDigest } from '../verdict/types.js';
import { monotonicMs } from './clock.js';
import { SharedConditions } from './conditions.js';
import { Edge } from './edge.js';
import { Link } from './links.js';
import type {
  LiveSource,
  OpenLive,
  OriginControl,
  OriginFacts,
  OriginReport,
  OriginStart,
} from './protocol.js';
import { Pulse } from './pulse.js';
import { answer, answerLater } from './reply.js';
import { SegmentTable } from './segments.js';

export class OriginWorker implements OriginControl {
  readonly #hasher: Hasher;
  readonly #openLive: OpenLive;
  #running: RunningOrigin | null = null;

  /** @param openLive  what knows of the world outside: handed in, and used by live plans only */
  constructor(hasher: Hasher, openLive: OpenLive) {
    this.#hasher = hasher;
    this.#openLive = openLive;
  }

  start(start: OriginStart): Promise<Reply<OriginFacts>> {
    return answerLater(async () => {
      const running = new RunningOrigin(start, this.#hasher);
      const { plan, secrets } = start;
      const tools = running.tools();
      if (plan.kind === 'nats') {
        const connection = withSecrets(plan.connection, secrets);
        running.use(await this.#openLive({ ...plan, connection }, tools));
      } else {
        const content = new OriginContent(madeOrigin('threads', { origin: plan }), tools);
        running.use(new OriginService(content, { ...tools, rate: plan.rate }));
      }
      this.#running = running;
      return running.facts();
    });
  }

  serve(): Reply<null> {
    return answer(() => this.#origin.serve());
  }

  arm({ at, fault }: Arm): Reply<null> {
    return answer(() => this.#origin.arm(at, fault));
  }

  strike(action: OriginAction): Reply<boolean> {
    return answer(() => this.#origin.strike(action));
  }

  report(): Reply<LedgerReport> {
    return answer(() => this.#origin.report());
  }

  records(range: SeqRange): Reply<readonly RecordDigest[]> {
    return answer(() => this.#origin.source.records(range));
  }

  halt(): Promise<Reply<null>> {
    return answerLater(() => this.#origin.halt());
  }

  get #origin(): RunningOrigin {
    if (this.#running !== null) return this.#running;
    throw new LockstepError('harness', 'the origin was not started');
  }
}

class RunningOrigin {
  #source: OriginSource | LiveSource | null = null;
  readonly #start: OriginStart;
  /** By their positions in the plan and beyond it. */
  readonly #faults: FaultPlan[];
  readonly #ledger = new Ledger();
  readonly #hasher: Hasher;
  readonly #links = new Map<Member, Link>();
  readonly #edges = new Map<Member, Edge>();
  readonly #table = new SegmentTable();
  readonly #pulse = new Pulse((late) => {
    this.#post({ kind: 'late', ...late });
  });
  /** The last sequence of what is to be mirrored. */
  #last = Number.POSITIVE_INFINITY;
  #segments = 0;
  #bytes = 0;
  #serving = false;
  #timer: NodeJS.Timeout | null = null;
  #soon: NodeJS.Immediate | null = null;
  #saidFirst = false;
  #saidHandedOut = false;

  constructor(start: OriginStart, hasher: Hasher) {
    this.#start = start;
    this.#faults = [...start.faults];
    this.#hasher = hasher;
    const conditions = new SharedConditions(start.links.length, start.conditions);
    const prng = createPrng(start.seed).fork('edges of the origin');
    start.links.forEach(({ member, port }, to) => {
      const edge = new Edge(conditions, { from: start.links.length, to }, prng.fork(member));
      this.#edges.set(member, edge);
      const link = new Link(port, this.#table, () => {
        this.#turn();
      });
      this.#links.set(member, link);
    });
  }

  get source(): OriginSource | LiveSource {
    if (this.#source !== null) return this.#source;
    throw new LockstepError('harness', 'the origin has no source');
  }

  use(source: OriginSource | LiveSource): void {
    this.#source = source;
    this.#last = source.last;
  }

  tools(): OriginTools {
    return {
      hasher: this.#hasher,
      ledger: this.#ledger,
      allocate: (size) => this.#allocate(size),
      timeScale: this.#start.timeScale,
      seed: this.#start.seed,
      wake: () => {
        this.#turnSoon();
      },
      note: (text) => {
        this.#post({ kind: 'note', atMs: monotonicMs(), text });
      },
    };
  }

  facts(): OriginFacts {
    const { last, messages } = this.source;
    return { threadId, last, messages, bytes: this.#bytes };
  }

  serve(): null {
    this.#serving = true;
    this.#pulse.start();
    this.#turn();
    return null;
  }

  report(): LedgerReport {
    return { ...this.source.report(), ...this.#ledger.ranges() };
  }

  arm(at: number, fault: FaultPlan): null {
    this.#faults[at] = fault;
    return null;
  }

  /** False: the fault has no object at this moment. */
  strike(action: OriginAction): boolean {
    const { plan: origin } = this.#start;
    const now = monotonicMs();
    const struck = strikeOrigin(this.source, action, now, (replan, life) => {
      const plan = replan(madeOrigin('threads', { origin }));
      return new OriginContent(plan, { life, ...this.tools() });
    });
    // Content that is made anew takes its time.
    this.#pulse.excuse(now);
    if (struck) this.#turnSoon();
    return struck;
  }

  async halt(): Promise<null> {
    this.#serving = false;
    this.#pulse.stop();
    for (const edge of this.#edges.values()) edge.close();
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#soon !== null) clearImmediate(this.#soon);
    for (const link of this.#links.values()) link.close();
    if ('close' in this.source) await this.source.close();
    this.#start.reports.close();
    return null;
  }

  #allocate(size: number): Uint8Array {
    const memory = new SharedArrayBuffer(size);
    this.#table.add(this.#segments++, memory);
    this.#bytes += size;
    return new Uint8Array(memory);
  }

  /** What wakes a source may wake it many times in a row: one turn is enough for all of them. */
  #turnSoon(): void {
    this.#soon ??= setImmediate(() => {
      this.#soon = null;
      this.#turn();
    });
  }

  #turn(): void {
    if (!this.#serving) return;
    const { source } = this;
    const now = monotonicMs();
    for (const [member, link] of this.#links) this.#take(member, link, now);
    for (const { to, frame } of source.pump(now)) this.#send(to, frame);
    this.#tell(now);
    if (this.#timer !== null) clearTimeout(this.#timer);
    const due = source.nextDueMs(now);
    this.#timer =
      due === null
        ? null
        : setTimeout(
            () => {
              this.#turn();
            },
            Math.max(1, due - now),
          );
  }

  #send(to: Member, frame: OriginFrame): void {
    const link = this.#links.get(to)!;
    const edge = this.#edges.get(to)!;
    if (edge.isCalm) link.sendFrame(frame);
    else edge.pass(() => link.sendFrame(frame));
  }

  #take(member: Member, link: Link, now: number): void {
    for (let received = link.take(); received !== undefined; received = link.take()) {
      if (received.kind === 'command') this.source.command(member, received.command, now);
      else if (received.kind === 'strike') this.#strikeArmed(received.at);
    }
  }

  /** A member reached the state that this fault waits for. */
  #strikeArmed(at: number): void {
    const struck = this.strike(this.#faults[at]!.action as OriginAction);
    this.#post({ kind: 'fault', at, state: struck ? 'installed' : 'due', atMs: monotonicMs() });
  }

  #tell(now: number): void {
    const { firstDeliveryMs, handedOut } = this.source;
    if (!this.#saidFirst && firstDeliveryMs !== null) {
      this.#saidFirst = true;
      this.#post({ kind: 'firstDelivery', atMs: firstDeliveryMs });
    }
    if (!this.#saidHandedOut && handedOut >= this.#last) {
      this.#saidHandedOut = true;
      this.#post({ kind: 'handedOut', atMs: now });
    }
  }

  #post(report: OriginReport): void {
    this.#start.reports.postMessage(report);
  }
}
