/**
 * Looks on while a simulation runs and checks every invariant as things happen: at each event that
 * a replica reports, each message that it sends, each write, each frame of the origin, and once
 * after each turn. The first finding of a property is told; later ones would only follow from it.
 */
import type { Hasher } from '../base/hasher.js';
import type { Member, Slot } from '../base/member.js';
import type { MirrorEvent, OriginFrame } from '../mirror/types.js';
import type { Message, Persist } from '../raft/types.js';
import type { Replica } from '../replica/replica.js';
import type { ReplicaEvent } from '../replica/types.js';
import type { MemoryDisk } from './disk.js';
import { AppliedInPlace } from './invariants/applied-in-place.js';
import { CommittedImmutable } from './invariants/committed-immutable.js';
import { CommittedOnQuorum } from './invariants/committed-on-quorum.js';
import { DurableAnswers } from './invariants/durable-answers.js';
import { ElectionSafety } from './invariants/election-safety.js';
import { LeaderAppendOnly } from './invariants/leader-append-only.js';
import { LeaderCompleteness } from './invariants/leader-completeness.js';
import { LogMatching } from './invariants/log-matching.js';
import { Monotonic } from './invariants/monotonic.js';
import { OneConsumer } from './invariants/one-consumer.js';
import { OwnTermCommits } from './invariants/own-term-commits.js';
import { RefusalRestores, type MirrorStanding } from './invariants/refusal-restores.js';
import { RetryPacing } from './invariants/retry-pacing.js';
import { SkipBatches } from './invariants/skip-batches.js';
import { StateMachineSafety } from './invariants/state-machine-safety.js';
import { TransferFence } from './invariants/transfer-fence.js';
import type { Finding } from './invariants/types.js';

/** What the watch sees of a member. */
export interface Watched {
  readonly slot: Slot;
  readonly member: Member;
  readonly life: number;
  readonly disk: MemoryDisk;
  /** Milliseconds of the member's own clock. */
  readonly clockMs: number;
}

export interface Violation {
  readonly property: string;
  readonly slot: Slot | null;
  readonly text: string;
}

interface Terms {
  readonly entryTerm: number;
  /** Of the member that committed it. */
  readonly inTerm: number;
}

export class Watch {
  readonly #hasher: Hasher;
  readonly #disks: readonly MemoryDisk[];
  readonly #tell: (violation: Violation) => void;
  readonly #told = new Set<string>();
  /** Up to where the commits of each slot's present life were checked. */
  readonly #checked = new Map<Slot, number>();
  readonly #electionSafety = new ElectionSafety();
  readonly #leaderAppendOnly = new LeaderAppendOnly();
  readonly #ownTermCommits = new OwnTermCommits();
  readonly #transferFence = new TransferFence();
  readonly #refusalRestores = new RefusalRestores();
  readonly #logMatching = new LogMatching();
  readonly #leaderCompleteness = new LeaderCompleteness();
  readonly #stateMachineSafety = new StateMachineSafety();
  readonly #committedImmutable = new CommittedImmutable();
  readonly #committedOnQuorum = new CommittedOnQuorum();
  readonly #monotonic = new Monotonic();
  readonly #durableAnswers = new DurableAnswers();
  readonly #appliedInPlace = new AppliedInPlace();
  readonly #skipBatches = new SkipBatches();
  readonly #oneConsumer = new OneConsumer();
  readonly #retryPacing: RetryPacing;

  constructor(options: {
    readonly hasher: Hasher;
    readonly timeScale: number;
    /** The disks of all slots. */
    readonly disks: readonly MemoryDisk[];
    readonly tell: (violation: Violation) => void;
  }) {
    this.#hasher = options.hasher;
    this.#disks = options.disks;
    this.#tell = options.tell;
    this.#retryPacing = new RetryPacing(options.timeScale);
  }

  /** A member started from what its disk holds. */
  started({ slot, member, disk }: Watched): void {
    this.#checked.set(slot, 0);
    this.#leaderAppendOnly.role(slot, false);
    this.#transferFence.over(member);
    this.#refusalRestores.started(member);
    const { term, vote } = disk;
    this.#monotonic.restarted(slot, { term, vote });
  }

  event(node: Watched, event: ReplicaEvent): void {
    const { slot, member } = node;
    switch (event.kind) {
      case 'role':
        this.#leaderAppendOnly.role(slot, event.role === 'leader');
        this.#transferFence.over(member);
        if (event.role === 'leader') this.#elected(node, event.term);
        return;
      case 'transfer':
        this.#transferFence.transfer(member, event.state, event.to);
        return;
      case 'commit': {
        const { term, index } = event;
        const entryTerm = node.disk.written.termAt(index) ?? 0;
        const counted = this.#ownTermCommits.committed(member, term, index, entryTerm);
        this.#say(OwnTermCommits.property, slot, counted);
        return;
      }
      case 'apply': {
        const { index, hash, mismatched } = event;
        const unsafe = this.#stateMachineSafety.applied(member, index, hash);
        this.#say(StateMachineSafety.property, slot, unsafe);
        const beyond = this.#appliedInPlace.applied(member, index, mismatched);
        this.#say(AppliedInPlace.property, slot, beyond);
        return;
      }
      default:
        this.#mirrored(node, event);
    }
  }

  /** A member's mirror is about to do one unit of work. */
  advances({ slot, member }: Watched, standing: MirrorStanding): void {
    const left = this.#refusalRestores.begins(member, standing);
    this.#say(RefusalRestores.property, slot, left);
  }

  sent({ slot, disk }: Watched, message: Message): void {
    this.#say(DurableAnswers.property, slot, this.#durableAnswers.sent(message, disk));
  }

  /** A write is about to be handed to the disk. */
  written({ slot, disk }: Watched, { entries }: Persist): void {
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
      const replaced = this.#committedImmutable.written(slot, index, term);
      this.#say(CommittedImmutable.property, slot, replaced);
      termBefore = term;
    }
  }

  /** A turn is over: everything that it led to was handed out. */
  turned({ slot, life, disk }: Watched, replica: Replica): void {
    const { applied, failed, log } = replica;
    const { term, vote, commit, lastIndex } = log;
    const standing = { life, term, vote, commit, applied, lastIndex };
    this.#say(Monotonic.property, slot, this.#monotonic.stands(slot, standing));
    // A member whose write failed is out; what it thinks of its log binds nobody.
    if (failed !== null) return;
    for (let index = (this.#checked.get(slot) ?? 0) + 1; index <= commit; index++) {
      const entryTerm = disk.written.termAt(index) ?? 0;
      this.#committed(slot, index, { entryTerm, inTerm: term });
    }
    this.#checked.set(slot, commit);
  }

  /** The origin sent a frame. */
  frame({ opening }: OriginFrame): void {
    this.#say(OneConsumer.property, null, this.#oneConsumer.served(opening));
  }

  #mirrored({ slot, member, life, clockMs }: Watched, event: MirrorEvent): void {
    switch (event.kind) {
      case 'propose': {
        const { what, first, last, count, refused } = event;
        if (refused === null) {
          this.#say(TransferFence.property, slot, this.#transferFence.accepted(member));
        } else this.#refusalRestores.refused(member, `${what} ${first}..${last}`);
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
        if (event.state === 'closed') this.#retryPacing.closed(member, life);
        if (event.state !== 'requested') return;
        this.#say(OneConsumer.property, slot, this.#oneConsumer.asked(event.opening));
        this.#say(RetryPacing.property, slot, this.#retryPacing.asked(member, life, clockMs));
        return;
      default:
    }
  }

  #elected({ slot, member, disk }: Watched, term: number): void {
    this.#ownTermCommits.elected(member, term);
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
