/**
 * The moments of a run at which a fault finds most: found while a simulation happens, from what a
 * member reports, sends and has under way. A fault that waits for one of them strikes right there,
 * in the middle of the member's turn.
 */
import type { Slot } from '../base/member.js';
import type { Message } from '../raft/types.js';
import type { Replica } from '../replica/replica.js';
import type { ReplicaEvent } from '../replica/types.js';
import type { SimNode } from './node.js';

/**
 * - `gapMet`: a leader is about to propose the first batch of a skip, on whatever path.
 * - `skipInFlight`: a leader had a batch of skips accepted and none of it is committed yet.
 * - `elected`, `transferred`: it has just won, the latter by order of the leader before it.
 * - `noopUncommitted`: it leads and its own noop is not applied yet.
 * - `deposed`: it has just ceased to lead.
 * - `transferSent`: it told its successor to campaign.
 * - `campaigning`: it has just asked for votes or pre-votes.
 * - `voted`, `acknowledged`: its vote, its acknowledgement of entries has just left it.
 * - `appendUnsynced`: entries are on their way to its disk.
 * - `openingRequested`: it asked the origin and was not answered.
 */
export type SwarmMoment =
  | 'gapMet'
  | 'skipInFlight'
  | 'elected'
  | 'transferred'
  | 'noopUncommitted'
  | 'deposed'
  | 'transferSent'
  | 'campaigning'
  | 'voted'
  | 'acknowledged'
  | 'appendUnsynced'
  | 'openingRequested';

/** `between`: between two proposals of its turn, where an input may be stepped at once. */
export type Reached = (moment: SwarmMoment, node: SimNode, between: boolean) => void;

/** What was seen of a member's present life. */
interface Seen {
  life: number;
  leads: boolean;
  campaignsByTransfer: boolean;
  skipped: boolean;
  skips: boolean;
}

export class Moments {
  readonly #reached: Reached;
  readonly #seen = new Map<Slot, Seen>();

  constructor(reached: Reached) {
    this.#reached = reached;
  }

  event(node: SimNode, event: ReplicaEvent): void {
    switch (event.kind) {
      case 'role':
        return this.#role(node, event);
      case 'transfer':
        if (event.state === 'sent') this.#reached('transferSent', node, false);
        return;
      case 'opening':
        if (event.state === 'requested') this.#reached('openingRequested', node, false);
        return;
      case 'propose':
        if (event.refused === null && (event.what === 'skips' || event.what === 'range')) {
          this.#of(node).skipped = true;
        }
        return;
      default:
    }
  }

  sent(node: SimNode, message: Message): void {
    if (message.type === 'voteReply' && message.granted && !message.pre) {
      this.#reached('voted', node, false);
    } else if (message.type === 'appendReply' && message.accepted && message.index > 0) {
      this.#reached('acknowledged', node, false);
    }
  }

  /** Before and between the proposals of a turn. */
  between(node: SimNode): void {
    const seen = this.#of(node);
    const { skipped, skips } = seen;
    seen.skipped = false;
    seen.skips = node.replica?.openingPhase === 'skipping';
    if (skipped) this.#reached('skipInFlight', node, true);
    else if (seen.skips && !skips) this.#reached('gapMet', node, true);
  }

  turned(node: SimNode, { log, serving }: Replica): void {
    if (log.role === 'leader' && !serving) this.#reached('noopUncommitted', node, false);
    if (node.disk.hasUnsyncedEntries) this.#reached('appendUnsynced', node, false);
  }

  #role(node: SimNode, { role, cause }: Extract<ReplicaEvent, { kind: 'role' }>): void {
    const seen = this.#of(node);
    const led = seen.leads;
    seen.leads = role === 'leader';
    switch (role) {
      case 'leader':
        if (seen.campaignsByTransfer) this.#reached('transferred', node, false);
        return this.#reached('elected', node, false);
      case 'follower':
        return led ? this.#reached('deposed', node, false) : undefined;
      default:
        seen.campaignsByTransfer = cause === 'transferOrdered';
        this.#reached('campaigning', node, false);
    }
  }

  #of({ slot, life }: SimNode): Seen {
    let seen = this.#seen.get(slot);
    if (seen?.life !== life) {
      seen = { life, leads: false, campaignsByTransfer: false, skipped: false, skips: false };
      this.#seen.set(slot, seen);
    }
    return seen;
  }
}
