/**
 * What a replica's thread tells the main thread: rare events as they are, frequent ones (commit,
 * apply, accepted messages) only as marks of progress, the view when it changes and every 50 ms.
 */
import type { MessagePort } from 'node:worker_threads';
import type { Member } from '../base/member.js';
import type { MemberView } from '../election/conductor.js';
import type { ReplicaHost } from '../replica/host.js';
import type { Replica } from '../replica/replica.js';
import type { ReplicaEvent } from '../replica/types.js';
import type { TouchedLinks } from '../scenario/links.js';
import { monotonicMs } from './clock.js';
import type { ProgressMark, ReplicaReport, TimedEvent } from './protocol.js';

const VIEW_EVERY_MS = 50;
const WATCH_MS = 30;
/** Progress after a pause longer than this is marked on both sides, so that no stall is rounded. */
const MARK_AFTER_MS = 2;

export class Reporter {
  readonly #port: MessagePort;
  readonly #member: Member;
  #events: TimedEvent[] = [];
  #marks: ProgressMark[] = [];
  #progress: ProgressMark | null = null;
  #markedAt = 0;
  #viewedAt = 0;
  #viewKey = '';
  #pendingMark = false;
  #watchUntil = 0;

  constructor(port: MessagePort, member: Member) {
    this.#port = port;
    this.#member = member;
  }

  event(event: ReplicaEvent): void {
    switch (event.kind) {
      case 'commit':
        return;
      case 'apply':
        this.#pendingMark ||= event.stored + event.skipped > 0;
        if (event.mismatched > 0) this.#events.push({ atMs: monotonicMs(), event });
        return;
      case 'propose':
        if (event.refused === null && event.what === 'messages') return;
        break;
      default:
    }
    this.#events.push({ atMs: monotonicMs(), event });
  }

  installed(at: number, touched: TouchedLinks | null = null): void {
    this.#post({ kind: 'fault', at, state: 'installed', touched, atMs: monotonicMs() });
  }

  fault(at: number, state: 'due' | 'healed'): void {
    this.#post({ kind: 'fault', at, state, atMs: monotonicMs() });
  }

  skipped(at: number, reason: string): void {
    this.#post({ kind: 'fault', at, state: 'skipped', reason, atMs: monotonicMs() });
  }

  /** For a while every turn reports its view: what a probe brings shows in whom a member hears. */
  watch(): void {
    this.#watchUntil = monotonicMs() + WATCH_MS;
  }

  turnEnded(host: ReplicaHost): void {
    if (this.#pendingMark) this.#mark(host.replica);
    const now = monotonicMs();
    const key = viewKey(host.replica);
    const every = now < this.#watchUntil ? 0 : VIEW_EVERY_MS;
    const viewDue = key !== this.#viewKey || now - this.#viewedAt >= every;
    if (this.#events.length === 0 && this.#marks.length === 0 && !viewDue) return;
    if (viewDue) {
      this.#viewKey = key;
      this.#viewedAt = now;
      if (this.#progress !== null) this.#marks.push(this.#progress);
    }
    this.#send(host, viewDue);
  }

  /** Everything that is known now, before the thread stops for a while or for good. */
  flush(host: ReplicaHost): void {
    if (this.#pendingMark) this.#mark(host.replica);
    if (this.#progress !== null) this.#marks.push(this.#progress);
    this.#send(host, true);
  }

  viewOf(replica: Replica): MemberView {
    const { role, term, leader, lastIndex, lastTerm, hears } = replica.log.status();
    return {
      member: this.#member,
      role,
      term,
      leader,
      lastIndex,
      lastTerm,
      hears,
    };
  }

  close(): void {
    this.#port.close();
  }

  #mark(replica: Replica): void {
    this.#pendingMark = false;
    const atMs = monotonicMs();
    const mark = {
      atMs,
      last: replica.store.lastSeq,
      messages: replica.stored,
    };
    const before = this.#progress;
    this.#progress = mark;
    if (before !== null && atMs - before.atMs > MARK_AFTER_MS) this.#marks.push(before, mark);
    else if (before === null || atMs - this.#markedAt > MARK_AFTER_MS) this.#marks.push(mark);
    else return;
    this.#markedAt = atMs;
  }

  #send(host: ReplicaHost, withView: boolean): void {
    const report: ReplicaReport = {
      kind: 'turn',
      view: withView ? this.viewOf(host.replica) : null,
      serving: host.replica.serving,
      events: this.#events,
      marks: this.#marks,
      lateMs: host.takeLateness(),
    };
    this.#events = [];
    this.#marks = [];
    this.#post(report);
  }

  #post(report: ReplicaReport): void {
    this.#port.postMessage(report);
  }
}

function viewKey(replica: Replica): string {
  const { role, term, leader } = replica.log;
  return `${role} ${term} ${leader ?? ''} ${replica.serving}`;
}
