/**
 * Looks on while a simulation runs and checks every invariant as things happen: at each event that
 * a replica reports, each message that it sends, each write, each frame of the origin, and once
 * after each turn. The first finding of a property is told; later ones would only follow from it.
 */
import type { Hasher } from '../base/hasher.js';
import type { Member, Slot } from '../base/member.js';
import type { MirrorEvent, OriginCommand, OriginFrame } from '../mirror/types.js';
import type { Message, Persist } from '../raft/types.js';
import type { Replica } from '../replica/replica.js';
import type { Input, ReplicaEvent } from '../replica/types.js';
import { expectedOf, viewOf } from '../stream/layout.js';
import type { MemoryDisk } from './disk.js';
import { ElectionWatch } from './election-watch.js';
import { AcknowledgedMatches } from './invariants/acknowledged-matches.js';
import { AppliedInPlace } from './invariants/applied-in-place.js';
import { AppliedIsDurable } from './invariants/applied-is-durable.js';
import { CommittedImmutable } from './invariants/committed-immutable.js';
import { CommittedOnQuorum } from './invariants/committed-on-quorum.js';
import { DurableAnswers } from './invariants/durable-answers.js';
import { ElectedByQuorum } from './invariants/elected-by-quorum.js';
import { ElectionSafety } from './invariants/election-safety.js';
import { LaterTermFollowed } from './invariants/later-term-followed.js';
import { LeaderAppendOnly } from './invariants/leader-append-only.js';
import { LeaderCompleteness } from './invariants/leader-completeness.js';
import { LoggedAsAccepted } from './invariants/logged-as-accepted.js';
import { LogMatching } from './invariants/log-matching.js';
import { Monotonic } from './invariants/monotonic.js';
import { NewerLogVoted, type LogEnd } from './invariants/newer-log-voted.js';
import { OwnTermCommits } from './invariants/own-term-commits.js';
import { StateMachineSafety } from './invariants/state-machine-safety.js';
import { TermFence } from './invariants/term-fence.js';
import { TransferFence } from './invariants/transfer-fence.js';
import type { Finding, JournalView } from './invariants/types.js';
import { MirrorWatch } from './mirror-watch.js';

/** What the watch sees of a member. */
export interface Watched {
  readonly slot: Slot;
  readonly member: Member;
  readonly life: number;
  readonly isAlive: boolean;
  readonly disk: MemoryDisk;
  /** Milliseconds of the member's own clock. */
  readonly clockMs: number;
  /** Of its present life, as its replica counts them. */
  readonly ticks: number;
  readonly quietTicks: number;
  /** Whether messages of its peers lie unread. */
  readonly peersWait: boolean;
}

export interface Violation {
  readonly property: string;
  readonly slot: Slot | null;
  readonly text: string;
}

type Accepted = Extract<MirrorEvent, { readonly kind: 'propose' }>;

interface Terms {
  readonly entryTerm: number;
  /** Of the member that committed it. */
  readonly inTerm: number;
}

export class Watch {
  readonly #hasher: Hasher;
  readonly #disks: readonly MemoryDisk[];
  readonly #diskOf: ReadonlyMap<Member, MemoryDisk>;
  readonly #tell: (violation: Violation) => void;
  readonly #told = new Set<string>();
  /** Up to where the commits of each slot's present life were checked. */
  readonly #checked = new Map<Slot, number>();
  readonly #electionSafety = new ElectionSafety();
  readonly #electedByQuorum = new ElectedByQuorum();
  readonly #newerLogVoted = new NewerLogVoted();
  readonly #laterTermFollowed = new LaterTermFollowed();
  readonly #leaderAppendOnly = new LeaderAppendOnly();
  readonly #ownTermCommits = new OwnTermCommits();
  readonly #termFence = new TermFence();
  readonly #transferFence: TransferFence;
  readonly #loggedAsAccepted = new LoggedAsAccepted();
  readonly #logMatching = new LogMatching();
  readonly #leaderCompleteness = new LeaderCompleteness();
  readonly #stateMachineSafety = new StateMachineSafety();
  readonly #committedImmutable = new CommittedImmutable();
  readonly #committedOnQuorum = new CommittedOnQuorum();
  readonly #monotonic = new Monotonic();
  readonly #durableAnswers = new DurableAnswers();
  readonly #acknowledgedMatches = new AcknowledgedMatches();
  readonly #appliedIsDurable = new AppliedIsDurable();
  readonly #appliedInPlace = new AppliedInPlace();
  readonly #elections: ElectionWatch;
  readonly #mirrors: MirrorWatch;

  constructor(options: {
    readonly hasher: Hasher;
    readonly timeScale: number;
    /** The longest election time-out, for who has one and for who hands over; the shortest one. */
    readonly timeoutTicks: number;
    readonly transferTicks: number;
    readonly leaseTicks: number;
    readonly checkQuorum: boolean;
    /** All of them. */
    readonly nodes: readonly Pick<Watched, 'member' | 'disk'>[];
    readonly tell: (violation: Violation) => void;
  }) {
    this.#hasher = options.hasher;
    this.#disks = options.nodes.map(({ disk }) => disk);
    this.#diskOf = new Map(options.nodes.map(({ member, disk }) => [member, disk]));
    this.#tell = options.tell;
    const say = this.#say.bind(this);
    const newerLogVoted = this.#newerLogVoted;
    this.#elections = new ElectionWatch({ ...options, newerLogVoted, say });
    this.#mirrors = new MirrorWatch({ ...options, members: options.nodes.length, say });
    this.#transferFence = new TransferFence(options.transferTicks);
  }

  /** A member started from what its disk holds. */
  started({ slot, member, disk }: Watched): void {
    this.#checked.set(slot, 0);
    this.#role(slot, member, null);
    this.#mirrors.started(member);
    this.#elections.started(slot);
    this.#laterTermFollowed.started(slot);
    const { term, vote } = disk;
    this.#newerLogVoted.started(slot, member, { term, vote });
    this.#monotonic.restarted(slot, { term, vote });
  }

  event(node: Watched, event: ReplicaEvent): void {
    const { slot, member } = node;
    switch (event.kind) {
      case 'role':
        this.#role(slot, member, event.role === 'leader' ? event.term : null);
        this.#elections.role(node, event);
        if (event.role === 'leader') this.#elected(node, event.term);
        return;
      case 'transfer':
        this.#transferFence.transfer(member, event, node.quietTicks);
        return;
      case 'commit': {
        const { term, index } = event;
        const entryTerm = node.disk.written.termAt(index) ?? 0;
        const counted = this.#ownTermCommits.committed(member, term, index, entryTerm);
        this.#say(OwnTermCommits.property, slot, counted);
        return;
      }
      case 'apply': {
        const { index, term, hash, mismatched } = event;
        this.#mirrors.applied(member, term);
        const early = this.#appliedIsDurable.applied(member, index, term, node.disk);
        this.#say(AppliedIsDurable.property, slot, early);
        const unsafe = this.#stateMachineSafety.applied(member, index, hash);
        this.#say(StateMachineSafety.property, slot, unsafe);
        const beyond = this.#appliedInPlace.applied(member, index, mismatched);
        this.#say(AppliedInPlace.property, slot, beyond);
        return;
      }
      default:
        if (event.kind === 'propose' && event.refused === null) this.#accepted(node, event);
        this.#mirrors.event(node, event);
    }
  }

  /** A member's mirror is about to do one unit of work. */
  advances(node: Watched, replica: Replica): void {
    this.#mirrors.advances(node, replica);
  }

  /** A member says something to the origin. */
  commanded(node: Watched, command: OriginCommand): void {
    this.#mirrors.commanded(node, command);
  }

  sent({ slot, disk }: Watched, message: Message): void {
    if (message.type === 'vote' && !message.pre) {
      const { from, term, lastIndex, lastTerm } = message;
      this.#newerLogVoted.asked(from, term, { index: lastIndex, term: lastTerm });
    } else if (message.type === 'voteReply' && message.granted && !message.pre) {
      this.#electedByQuorum.voted(message.from, message.term, message.to);
    } else if (message.type === 'timeoutNow') {
      const target = this.#diskOf.get(message.to)!;
      const early = this.#transferFence.ordered(message, disk.written, target);
      this.#say(TransferFence.property, slot, early);
    }
    if (message.type === 'voteReply' && message.granted) this.#elections.granted(slot, message);
    this.#say(DurableAnswers.property, slot, this.#durableAnswers.sent(message, disk));
    const unlike = this.#acknowledgedMatches.sent(message, disk);
    this.#say(AcknowledgedMatches.property, slot, unlike);
  }

  /** A message reached a member, which reads it before its time-out may expire. */
  received(node: Watched, message: Message, replica: Replica): void {
    this.#laterTermFollowed.received(node.slot, message);
    this.#elections.received(node, message, replica);
  }

  /** A member reads a message. */
  reads(node: Watched, message: Message, replica: Replica): void {
    this.#elections.reads(node, message, replica);
  }

  /** A member reads an order. */
  ordered(node: Watched, order: Input, replica: Replica): void {
    this.#elections.ordered(node, order, replica);
    this.#mirrors.ordered(node.member, order);
  }

  /** A member takes in a frame of the origin. */
  takesIn({ member }: Watched, frame: OriginFrame): void {
    this.#mirrors.takesIn(member, frame);
  }

  /** A write is about to be handed to the disk. */
  written(node: Watched, write: Persist): void {
    const { slot, member, disk } = node;
    const { entries } = write;
    if (this.#voted(slot, member, disk.written, write)) this.#elections.voted(node);
    if (entries.length > 0) {
      const first = entries[0]!.index;
      const over = this.#leaderAppendOnly.written(slot, first, disk.written.lastIndex);
      this.#say(LeaderAppendOnly.property, slot, over);
    }
    let termBefore = disk.written.termAt((entries[0]?.index ?? 1) - 1) ?? 0;
    for (const { index, term, kind, count, bytes } of entries) {
      const hash = this.#hasher.hash64(bytes, BigInt(count * 4 + kind.length));
      const unlike = this.#logMatching.written(index, { term, termBefore, hash });
      this.#say(LogMatching.property, slot, unlike);
      if (kind === 'batch') this.#logged(slot, member, term, { count, bytes });
      const replaced = this.#committedImmutable.written(slot, index, term);
      this.#say(CommittedImmutable.property, slot, replaced);
      termBefore = term;
    }
  }

  /** A turn is over: everything that it led to was handed out. */
  turned(node: Watched, replica: Replica): void {
    const { slot, member, life, disk, peersWait } = node;
    const { applied, failed, log } = replica;
    const { term, vote, commit, lastIndex } = log;
    const standing = { life, term, vote, commit, applied, lastIndex };
    this.#say(Monotonic.property, slot, this.#monotonic.stands(slot, standing));
    // A member whose write failed is out; what it thinks of its log binds nobody.
    if (failed !== null) return;
    const { quietTicks } = replica;
    this.#elections.turned(node, term);
    this.#say(TransferFence.property, slot, this.#transferFence.stands(member, quietTicks));
    this.#mirrors.turned(node, replica, this.#transferFence.handsOver(member));
    const behind = peersWait ? null : this.#laterTermFollowed.stands(slot, term);
    this.#say(LaterTermFollowed.property, slot, behind);
    for (let index = (this.#checked.get(slot) ?? 0) + 1; index <= commit; index++) {
      const entryTerm = disk.written.termAt(index) ?? 0;
      this.#committed(slot, index, { entryTerm, inTerm: term });
    }
    this.#checked.set(slot, commit);
  }

  /** The origin sent a frame. */
  frame({ opening }: OriginFrame): void {
    this.#mirrors.served(opening);
  }

  #accepted({ slot, member }: Watched, { what, term, first, count }: Accepted): void {
    // An identity stands at the sequence that it follows.
    const follows = what === 'identity' ? first : first - 1;
    this.#loggedAsAccepted.accepted(member, { count, follows });
    this.#say(TermFence.property, slot, this.#termFence.accepted(member, term));
    this.#say(TransferFence.property, slot, this.#transferFence.accepted(member));
  }

  /** @param term  that the member leads from now on; null: it does not lead */
  #role(slot: Slot, member: Member, term: number | null): void {
    this.#leaderAppendOnly.role(slot, term !== null);
    this.#transferFence.over(member);
    this.#mirrors.role(member);
    this.#acknowledgedMatches.over(member);
    this.#termFence.role(member, term);
    this.#loggedAsAccepted.role(member, term);
  }

  /** A batch is handed to the disk. */
  #logged(
    slot: Slot,
    member: Member,
    term: number,
    { count, bytes }: { readonly count: number; readonly bytes: Uint8Array },
  ): void {
    const batch = { count, follows: expectedOf(viewOf(bytes), 0) };
    const found = this.#loggedAsAccepted.written(member, term, batch);
    this.#say(LoggedAsAccepted.property, slot, found);
  }

  /** Whether a vote for another member is handed to the disk, for the first time. */
  #voted(slot: Slot, voter: Member, log: JournalView, { term, vote, entries }: Persist): boolean {
    if (vote === null || vote === voter || this.#newerLogVoted.isJudged(voter, term)) return false;
    const before = endBelow(term, log.lastIndex, (index) => log.termAt(index)!);
    const start = entries[0]?.index ?? log.lastIndex + 1;
    const termAt = (index: number): number =>
      index < start ? log.termAt(index)! : entries[index - start]!.term;
    const after = endBelow(term, start - 1 + entries.length, termAt);
    const found = this.#newerLogVoted.voted(voter, term, vote, [before, after]);
    this.#say(NewerLogVoted.property, slot, found);
    return true;
  }

  #elected(node: Watched, term: number): void {
    const { slot, member, disk } = node;
    const of = {
      ownVote: disk.term === term && disk.vote === member,
      members: this.#disks.length,
    };
    this.#say(ElectedByQuorum.property, slot, this.#electedByQuorum.elected(member, term, of));
    this.#ownTermCommits.elected(member, term);
    this.#acknowledgedMatches.elected(node, term);
    this.#say(ElectionSafety.property, slot, this.#electionSafety.elected(member, term));
    const lacks = this.#leaderCompleteness.elected(term, disk.written);
    this.#say(LeaderCompleteness.property, slot, lacks);
  }

  #committed(slot: Slot, index: number, { entryTerm, inTerm }: Terms): void {
    const changed = this.#committedImmutable.committed(slot, index, entryTerm);
    this.#say(CommittedImmutable.property, slot, changed);
    const few = this.#committedOnQuorum.committed(index, entryTerm, this.#disks);
    this.#say(CommittedOnQuorum.property, slot, few);
    this.#leaderCompleteness.committed(index, entryTerm, inTerm);
  }

  #say(property: string, slot: Slot | null, text: Finding): void {
    if (text === null || this.#told.has(property)) return;
    this.#told.add(property);
    this.#tell({ property, slot, text });
  }
}

/** How a log ends without its entries of `term` and later. */
function endBelow(term: number, last: number, termAt: (index: number) => number): LogEnd {
  for (let index = last; index > 0; index--) {
    const found = termAt(index);
    if (found < term) return { index, term: found };
  }
  return { index: 0, term: 0 };
}
