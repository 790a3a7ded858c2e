/**
 * What the watch checks of elections: when members campaign, what they grant, whose orders they
 * obey. Told by watch.ts, which has the invariants of the log. What a member reads is judged by how
 * it stands at that very moment: what arrived may wait for a while.
 */
import type { Slot } from '../base/member.js';
import type { Message, RaftEvent, VoteReply } from '../raft/types.js';
import type { Replica } from '../replica/replica.js';
import type { Input } from '../replica/types.js';
import { LeaseKept } from './invariants/lease-kept.js';
import { NewerLogVoted } from './invariants/newer-log-voted.js';
import { OrdersObeyed } from './invariants/orders-obeyed.js';
import { TimeoutKept } from './invariants/timeout-kept.js';
import type { Finding } from './invariants/types.js';
import type { Watched } from './watch.js';

type Say = (property: string, slot: Slot | null, text: Finding) => void;
type RoleEvent = Extract<RaftEvent, { readonly kind: 'role' }>;

export class ElectionWatch {
  readonly #say: Say;
  readonly #leaseTicks: number;
  readonly #checkQuorum: boolean;
  readonly #newerLogVoted: NewerLogVoted;
  readonly #timeoutKept: TimeoutKept;
  readonly #leaseKept = new LeaseKept();
  readonly #ordersObeyed = new OrdersObeyed();
  /** All ticks of each slot's present life up to when it read its leader's message last. */
  readonly #heardAt = new Map<Slot, number>();

  constructor(options: {
    /** The longest election time-out, infinite for who has none. */
    readonly timeoutTicks: number;
    /** The shortest one: for so long a leader that was heard is taken for alive. */
    readonly leaseTicks: number;
    readonly checkQuorum: boolean;
    readonly newerLogVoted: NewerLogVoted;
    readonly say: Say;
  }) {
    this.#say = options.say;
    this.#leaseTicks = options.leaseTicks;
    this.#checkQuorum = options.checkQuorum;
    this.#newerLogVoted = options.newerLogVoted;
    this.#timeoutKept = new TimeoutKept(options.leaseTicks, options.timeoutTicks);
  }

  started(slot: Slot): void {
    this.#timeoutKept.started(slot);
    this.#leaseKept.started(slot);
    this.#ordersObeyed.over(slot);
    this.#heardAt.delete(slot);
  }

  role({ slot, ticks, quietTicks }: Watched, { role, cause }: RoleEvent): void {
    if (cause === 'electionTimeout') {
      this.#say(TimeoutKept.property, slot, this.#timeoutKept.campaigns(slot, ticks));
    } else if (cause === 'ordered') {
      this.#say(OrdersObeyed.property, slot, this.#ordersObeyed.campaigns(slot));
    }
    this.#timeoutKept.role(slot, role === 'leader', cause, quietTicks);
  }

  /** A message reached a member, which reads it before its time-out may expire. */
  received({ slot, quietTicks }: Watched, message: Message, { log }: Replica): void {
    const isVotedFor =
      message.type === 'vote' && message.term === log.term && message.from === log.vote;
    if (isVotedFor || isOfLeader(message, log.term)) this.#timeoutKept.begins(slot, quietTicks);
    else if (message.type === 'vote' && !message.pre && message.term > log.term) {
      this.#timeoutKept.asked(slot, message.term, quietTicks);
    }
  }

  /** A member reads a message. */
  reads(node: Watched, message: Message, { log }: Replica): void {
    const { slot, ticks } = node;
    if (message.type === 'vote') {
      const { lastIndex, lastTerm } = log.status();
      this.#newerLogVoted.read(slot, message, { index: lastIndex, term: lastTerm });
      const hears = log.role === 'leader' ? node.member : this.#hears(node, log.leader);
      this.#leaseKept.asked(slot, message, this.#checkQuorum ? hears : null);
    } else if (log.role !== 'leader' && isOfLeader(message, log.term)) {
      this.#heardAt.set(slot, ticks);
      this.#timeoutKept.waitsFrom(slot, ticks);
    }
  }

  ordered(node: Watched, order: Input, { log }: Replica): void {
    if (order.type !== 'campaign') return;
    const { role, term, leader } = log;
    const standing = { term, leads: role === 'leader', hears: this.#hears(node, leader) };
    this.#ordersObeyed.ordered(node.slot, order, standing);
  }

  /** A vote for another member is handed to the disk. */
  voted({ slot, ticks, quietTicks }: Watched): void {
    this.#timeoutKept.begins(slot, quietTicks);
    this.#timeoutKept.waitsFrom(slot, ticks);
  }

  /** A vote or a pre-vote is granted. */
  granted(slot: Slot, reply: VoteReply): void {
    this.#say(LeaseKept.property, slot, this.#leaseKept.granted(slot, reply));
    this.#say(NewerLogVoted.property, slot, this.#newerLogVoted.granted(slot, reply));
  }

  /** A turn is over. */
  turned({ slot, quietTicks }: Watched, term: number): void {
    this.#say(TimeoutKept.property, slot, this.#timeoutKept.stands(slot, quietTicks, term));
    this.#ordersObeyed.over(slot);
  }

  /** The leader that a member knows and has heard so lately that nobody's time-out has expired. */
  #hears({ slot, ticks }: Watched, leader: string | null): string | null {
    const since = this.#heardAt.get(slot);
    return since !== undefined && ticks - since < this.#leaseTicks ? leader : null;
  }
}

/** Whether a member in this term takes it for its leader's, unless it leads itself. */
function isOfLeader({ type, term }: Message, own: number): boolean {
  return (type === 'append' || type === 'heartbeat') && term >= own;
}
