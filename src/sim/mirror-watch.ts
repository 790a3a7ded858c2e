/**
 * What the watch checks of mirrors: what they propose, undo and ask for. Told by watch.ts, which
 * has the invariants of the log.
 */
import type { Member, Slot } from '../base/member.js';
import type { MirrorEvent, Opening, OriginCommand, OriginFrame } from '../mirror/types.js';
import type { Replica } from '../replica/replica.js';
import type { Input } from '../replica/types.js';
import { AppliedLag } from './invariants/applied-lag.js';
import { AsksAgain } from './invariants/asks-again.js';
import { IdentityFirst } from './invariants/identity-first.js';
import { OneConsumer } from './invariants/one-consumer.js';
import { OwnNoopFirst } from './invariants/own-noop-first.js';
import { OwnOpening } from './invariants/own-opening.js';
import { RefusalRestores } from './invariants/refusal-restores.js';
import { RetryPacing } from './invariants/retry-pacing.js';
import { SkipBatches } from './invariants/skip-batches.js';
import type { Finding } from './invariants/types.js';
import type { Watched } from './watch.js';

type Say = (property: string, slot: Slot | null, text: Finding) => void;

export class MirrorWatch {
  readonly #say: Say;
  /** One replica has no log of terms, and no no-op. */
  readonly #direct: boolean;
  readonly #refusalRestores = new RefusalRestores();
  readonly #appliedLag = new AppliedLag();
  readonly #skipBatches = new SkipBatches();
  readonly #oneConsumer = new OneConsumer();
  readonly #ownNoopFirst = new OwnNoopFirst();
  readonly #ownOpening = new OwnOpening();
  readonly #identityFirst = new IdentityFirst();
  readonly #retryPacing: RetryPacing;
  readonly #asksAgain: AsksAgain;

  constructor(options: {
    readonly timeScale: number;
    readonly members: number;
    readonly say: Say;
  }) {
    this.#say = options.say;
    this.#direct = options.members === 1;
    this.#retryPacing = new RetryPacing(options.timeScale);
    this.#asksAgain = new AsksAgain(options.timeScale);
  }

  started(member: Member): void {
    this.#refusalRestores.started(member);
    this.#appliedLag.mayMove(member);
    this.#oneConsumer.started(member);
    this.#ownNoopFirst.started(member);
    this.#ownOpening.started(member);
    this.#asksAgain.started(member);
  }

  role(member: Member): void {
    this.#retryPacing.role(member);
  }

  applied(member: Member, term: number): void {
    this.#appliedLag.mayMove(member);
    this.#ownNoopFirst.applied(member, term);
  }

  /** A mirror is about to do one unit of work. */
  advances({ slot, member }: Watched, { mirrorStanding, openingPhase }: Replica): void {
    const left = this.#refusalRestores.begins(member, mirrorStanding);
    this.#say(RefusalRestores.property, slot, left);
    const receives = openingPhase === 'receiving';
    const moved = this.#appliedLag.stands(member, mirrorStanding.lag, receives);
    this.#say(AppliedLag.property, slot, moved);
  }

  event(node: Watched, event: MirrorEvent): void {
    const { slot, member } = node;
    switch (event.kind) {
      case 'propose': {
        const { what, first, last, count, refused } = event;
        this.#say(OwnOpening.property, slot, this.#ownOpening.proposed(member, event));
        if (what === 'messages') this.#asksAgain.received(member);
        if (refused !== null) this.#refusalRestores.refused(member, `${what} ${first}..${last}`);
        if (what !== 'skips') return;
        const batch = this.#skipBatches.proposed(first, last, count);
        this.#say(SkipBatches.property, slot, batch);
        return;
      }
      case 'rollback': {
        const back = this.#refusalRestores.rolledBack(member, event);
        this.#say(RefusalRestores.property, slot, back);
        return;
      }
      case 'opening':
        this.#opening(node, event);
        return;
      case 'retry':
        if (event.inTicks === null) this.#retryPacing.waits(member);
        return;
      case 'condition':
        this.#asksAgain.condition(member, event.condition === 'running');
    }
  }

  /** A member reads an order. */
  ordered(member: Member, order: Input): void {
    if (order.type === 'configure') this.#asksAgain.configured(member, order.mirror);
  }

  commanded({ slot }: Watched, command: OriginCommand): void {
    const { type, opening } = command;
    if (type === 'close') this.#oneConsumer.closeTold(opening);
    if (type !== 'credit') return;
    const foreign = this.#ownOpening.credited(opening, command.deliverySeq);
    this.#say(OwnOpening.property, slot, foreign);
  }

  /** A mirror takes in what the origin sent. */
  takesIn(member: Member, frame: OriginFrame): void {
    this.#ownOpening.takesIn(member, frame);
  }

  /** The origin sent a frame. */
  served(opening: Opening): void {
    this.#say(OneConsumer.property, null, this.#oneConsumer.served(opening));
  }

  /** A turn is over. */
  turned({ slot, member, quietTicks }: Watched, replica: Replica, handsOver: boolean): void {
    const serves = handsOver ? 'handsOver' : 'serves';
    const does = replica.serving ? serves : 'nothing';
    this.#say(AsksAgain.property, slot, this.#asksAgain.stands(member, does, quietTicks));
    this.#say(OneConsumer.property, slot, this.#oneConsumer.stands(member));
    const { lastSeq, identity } = replica.store;
    const nameless = this.#identityFirst.stands(member, lastSeq, identity !== null);
    this.#say(IdentityFirst.property, slot, nameless);
  }

  #opening(
    { slot, member, life, clockMs, quietTicks }: Watched,
    { state, opening, startSeq, cause }: Extract<MirrorEvent, { readonly kind: 'opening' }>,
  ): void {
    switch (state) {
      case 'requested': {
        this.#asksAgain.requested(member);
        this.#ownOpening.requested(opening, startSeq);
        this.#say(OneConsumer.property, slot, this.#oneConsumer.asked(opening));
        this.#say(RetryPacing.property, slot, this.#retryPacing.asked(member, life, clockMs));
        const early = this.#direct ? null : this.#ownNoopFirst.asked(opening);
        this.#say(OwnNoopFirst.property, slot, early);
        return;
      }
      case 'opened':
        this.#appliedLag.mayMove(member);
        this.#retryPacing.opened(member);
        this.#say(OwnOpening.property, slot, this.#ownOpening.opened(opening, startSeq));
        return;
      case 'closed':
        this.#appliedLag.mayMove(member);
        this.#oneConsumer.closed(opening);
        this.#say(OwnOpening.property, slot, this.#ownOpening.closed(opening, cause));
        this.#retryPacing.closed(member, life, cause, clockMs);
        this.#asksAgain.closed(member, cause, quietTicks);
    }
  }
}
