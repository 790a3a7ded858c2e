/** The origin's thread: wires ports to the pure origin service and keeps its ledger. */
import { threadId } from 'node:worker_threads';
import { LockstepError, type Reply } from '../base/errors.js';
import type { Hasher } from '../base/hasher.js';
import type { Member } from '../base/member.js';
import { OriginContent } from '../origin/content.js';
import { OriginService } from '../origin/service.js';
import type { SeqRange } from '../stream/types.js';
import { Ledger } from '../verdict/ledger.js';
import type { LedgerReport, RecordDigest } from '../verdict/types.js';
import { monotonicMs } from './clock.js';
import { Link } from './links.js';
import type { OriginControl, OriginFacts, OriginReport, OriginStart } from './protocol.js';
import { answer } from './reply.js';
import { SegmentTable } from './segments.js';

export class OriginWorker implements OriginControl {
  readonly #hasher: Hasher;
  #running: RunningOrigin | null = null;

  constructor(hasher: Hasher) {
    this.#hasher = hasher;
  }

  start(start: OriginStart): Reply<OriginFacts> {
    return answer(() => {
      this.#running = new RunningOrigin(start, this.#hasher);
      return this.#running.facts();
    });
  }

  serve(): Reply<null> {
    return answer(() => this.#origin.serve());
  }

  dropConsumer(): Reply<boolean> {
    return answer(() => this.#origin.service.dropConsumer());
  }

  report(): Reply<LedgerReport> {
    return answer(() => this.#origin.report());
  }

  records(range: SeqRange): Reply<readonly RecordDigest[]> {
    return answer(() => this.#origin.service.records(range));
  }

  halt(): Reply<null> {
    return answer(() => this.#origin.halt());
  }

  get #origin(): RunningOrigin {
    if (this.#running !== null) return this.#running;
    throw new LockstepError('harness', 'the origin was not started');
  }
}

class RunningOrigin {
  readonly service: OriginService;
  readonly #start: OriginStart;
  readonly #ledger = new Ledger();
  readonly #links = new Map<Member, Link>();
  readonly #table = new SegmentTable();
  /** The last sequence of what is to be mirrored. */
  readonly #last: number;
  #segments = 0;
  #bytes = 0;
  #serving = false;
  #timer: NodeJS.Timeout | null = null;
  #saidFirst = false;
  #saidHandedOut = false;

  constructor(start: OriginStart, hasher: Hasher) {
    this.#start = start;
    const allocate = (size: number): Uint8Array => this.#allocate(size);
    const content = new OriginContent(start.plan, { seed: start.seed, hasher, allocate });
    this.#last = content.last;
    this.service = new OriginService(content, {
      ledger: this.#ledger,
      rate: start.plan.rate,
      timeScale: start.timeScale,
    });
    for (const { member, port } of start.links) {
      const link = new Link(port, this.#table, () => {
        this.#turn();
      });
      this.#links.set(member, link);
    }
  }

  facts(): OriginFacts {
    const { last, messages } = this.service.stream;
    return { threadId, last, messages, bytes: this.#bytes };
  }

  serve(): null {
    this.#serving = true;
    this.#turn();
    return null;
  }

  report(): LedgerReport {
    return { ...this.service.report(), ...this.#ledger.ranges() };
  }

  halt(): null {
    this.#serving = false;
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const link of this.#links.values()) link.close();
    this.#start.reports.close();
    return null;
  }

  #allocate(size: number): Uint8Array {
    const memory = new SharedArrayBuffer(size);
    this.#table.add(this.#segments++, memory);
    this.#bytes += size;
    return new Uint8Array(memory);
  }

  #turn(): void {
    if (!this.#serving) return;
    const now = monotonicMs();
    for (const [member, link] of this.#links) this.#take(member, link, now);
    for (const { to, frame } of this.service.pump(now)) this.#links.get(to)?.sendFrame(frame);
    this.#tell(now);
    if (this.#timer !== null) clearTimeout(this.#timer);
    const due = this.service.nextDueMs(now);
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

  #take(member: Member, link: Link, now: number): void {
    for (let received = link.take(); received !== undefined; received = link.take()) {
      if (received.kind === 'command') this.service.command(member, received.command, now);
      else if (received.kind === 'dropConsumer') this.service.dropConsumer();
    }
  }

  #tell(now: number): void {
    if (!this.#saidFirst && this.service.firstDeliveryMs !== null) {
      this.#saidFirst = true;
      this.#post({ kind: 'firstDelivery', atMs: this.service.firstDeliveryMs });
    }
    if (!this.#saidHandedOut && this.service.handedOut >= this.#last) {
      this.#saidHandedOut = true;
      this.#post({ kind: 'handedOut', atMs: now });
    }
  }

  #post(report: OriginReport): void {
    this.#start.reports.postMessage(report);
  }
}
