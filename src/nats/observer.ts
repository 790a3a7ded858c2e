/**
 * What is known of the members of a cluster of servers, look by look: who leads in which term, how
 * far each copy came, how often the mirror opened its origin. Changes become events. Looks are some
 * tens of milliseconds apart, so a state that a fault waits for is met that much later, and what
 * comes and goes between two looks is not seen.
 */
import { memberOf, type Slot } from '../base/member.js';
import { Arms, armsOf, furthestSeen, type Arm } from '../scenario/arms.js';
import type { FaultBudget } from '../scenario/budget.js';
import type { ClusterEvent } from '../scenario/driver.js';
import type { FaultPlan } from '../scenario/types.js';
import type { StreamState } from '../stream/types.js';

export interface MemberSight {
  readonly role: 'leader' | 'candidate' | 'follower';
  /** Null: the server does not tell. Terms are then counted by the leaders that were seen. */
  readonly term: number | null;
  readonly state: StreamState;
}

export interface ObserverOptions {
  readonly slots: readonly Slot[];
  readonly budget: FaultBudget;
  readonly faults: readonly FaultPlan[];
  readonly onEvent: (event: ClusterEvent) => void;
  readonly now: () => number;
}

interface Observed {
  readonly slot: Slot;
  readonly arms: Arms;
  role: MemberSight['role'];
  term: number;
  state: StreamState;
  /** False before the first look, and while its server is down. */
  isSeen: boolean;
}

const NOTHING: StreamState = { first: 0, last: 0, messages: 0, deleted: 0 };

export class Observer {
  readonly #options: ObserverOptions;
  readonly #members: readonly Observed[];
  readonly #openings = new Set<string>();
  #term = 0;
  #hasBegun = false;

  constructor(options: ObserverOptions) {
    const { slots, budget, faults } = options;
    const arms = armsOf(faults);
    this.#options = options;
    this.#members = slots.map((slot) => ({
      ...{ slot, arms: new Arms(arms, slot, budget), isSeen: false },
      ...{ role: 'follower', term: 0, state: NOTHING },
    }));
  }

  /** Who leads by its own word, in the highest term of those who say so. */
  leader(): Slot | null {
    const leading = this.#members.filter(({ role, isSeen }) => isSeen && role === 'leader');
    const [best] = leading.sort((one, other) => other.term - one.term);
    return best?.slot ?? null;
  }

  lastOf(slot: Slot): number {
    return this.#member(slot).state.last;
  }

  arm(arm: Arm): void {
    for (const { arms } of this.#members) arms.add(arm);
  }

  lastSeen(): ReadonlyMap<string, number> {
    return furthestSeen(this.#members.map(({ arms }) => arms.lastSeen()));
  }

  /** Its server is down: it leads nothing and holds nothing until it is seen again. */
  gone(slot: Slot): void {
    Object.assign(this.#member(slot), { isSeen: false, role: 'follower', state: NOTHING });
  }

  take(slot: Slot, { role, term, state }: MemberSight): void {
    const member = this.#member(slot);
    const { onEvent, now } = this.#options;
    const atMs = now();
    const isNew = role === 'leader' && (member.role !== 'leader' || !member.isSeen);
    if (term === null && isNew) this.#term++;
    // Whoever has not heard of the next leader goes on to lead, in the term that was its own.
    const counted = role === 'leader' && !isNew ? member.term : this.#term;
    const known = term ?? counted;
    this.#term = Math.max(this.#term, known);
    const hasTurned =
      !member.isSeen || member.role !== role || (member.term !== known && role === 'leader');
    Object.assign(member, { role, term: known, isSeen: true });
    if (hasTurned) {
      const leader = role === 'leader' ? memberOf(slot, 1) : null;
      const cause = role === 'leader' ? 'won' : 'leaderHeard';
      onEvent({
        kind: 'replica',
        slot,
        atMs,
        event: { kind: 'role', role, term: known, leader, cause },
      });
    }
    this.#progress(member, state, atMs);
    this.#meet(member, atMs);
  }

  /** Consumers that the mirror has at its origin; one that was not there before is an opening. */
  openings(slot: Slot | null, consumers: readonly string[]): void {
    for (const consumer of consumers) {
      if (this.#openings.has(consumer)) continue;
      this.#openings.add(consumer);
      if (slot === null) continue;
      const { now, onEvent } = this.#options;
      const { state, term } = this.#member(slot);
      const opening = { member: memberOf(slot, 1), term, generation: this.#openings.size };
      onEvent({
        ...{ kind: 'replica', slot, atMs: now() },
        event: { kind: 'opening', state: 'opened', opening, startSeq: state.last + 1 },
      });
    }
  }

  get hasOpened(): boolean {
    return this.#openings.size > 0;
  }

  #progress(member: Observed, state: StreamState, atMs: number): void {
    const { onEvent } = this.#options;
    const before = member.state;
    member.state = state;
    if (state.last <= before.last) return;
    if (!this.#hasBegun && state.messages > 0) {
      this.#hasBegun = true;
      onEvent({ kind: 'firstDelivery', atMs });
    }
    const { slot } = member;
    onEvent({ kind: 'progress', slot, atMs, last: state.last, messages: state.messages });
  }

  /** A fault whose state was met is carried out by whoever injects. */
  #meet({ slot, arms, role, term, state }: Observed, atMs: number): void {
    const view = {
      serving: slot === this.leader(),
      skipsAccepted: 0,
      log: { role, term, appendedOn: () => false },
      stored: state.messages,
    };
    for (let due = arms.due(view); due !== undefined; due = arms.due(view)) {
      this.#options.onEvent({ kind: 'due', id: due.fault.id, atMs });
    }
  }

  #member(slot: Slot): Observed {
    return this.#members.find((member) => member.slot === slot)!;
  }
}
