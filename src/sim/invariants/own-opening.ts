/**
 * What a mirror does in an opening comes from what the origin said in that very opening: messages
 * were delivered in it, a skip ends before one of them or where its answer starts, credit goes up
 * to a number that it has; and it starts at nothing before what it asked for. Frames of an older
 * one change nothing. docs/mirror.md, rule 7; the schedule at src/mirror/mirror.ts, frame.
 */
import { isSeq } from '../../base/seq.js';
import type { Member } from '../../base/member.js';
import type { MirrorCause, MirrorEvent, Opening, OriginFrame } from '../../mirror/types.js';
import { expectedOf, recordSize, SKIP_BYTES, viewOf } from '../../stream/layout.js';
import type { Finding } from './types.js';

type Proposed = Pick<Extract<MirrorEvent, { readonly kind: 'propose' }>, 'what' | 'first' | 'last'>;
type FrameType = OriginFrame['type'];

/** What an opening brought so far. */
interface Brought {
  readonly opening: Opening;
  /** What was asked for. */
  readonly startSeq: number;
  readonly types: Set<FrameType>;
  /** The sequence before the first that will be delivered. */
  startsAfter: number;
  /** The lowest and the highest that was delivered, and the highest number of a delivery. */
  lowest: number;
  highest: number;
  deliverySeq: number;
}

/** Without one of these frames an opening cannot end so. */
const NEEDED: Partial<Record<MirrorCause, readonly FrameType[]>> = {
  createRefused: ['refused'],
  malformedAnswer: ['opened', 'deliver'],
  malformedDelivery: ['deliver'],
  lostDelivery: ['deliver', 'heartbeat'],
  blocked: ['deliver'],
  diverged: ['opened'],
};

export class OwnOpening {
  static readonly property = 'own opening';
  readonly #live = new Map<Member, Brought>();

  started(member: Member): void {
    this.#live.delete(member);
  }

  /** @param startSeq  the first sequence that is asked for */
  requested(opening: Opening, startSeq: number): void {
    this.#live.set(opening.member, {
      ...{ opening, startSeq, types: new Set<FrameType>(), startsAfter: 0 },
      ...{ lowest: Number.POSITIVE_INFINITY, highest: 0, deliverySeq: 0 },
    });
  }

  /** A frame is taken in. */
  takesIn(member: Member, frame: OriginFrame): void {
    const live = this.#live.get(member);
    if (live === undefined || !isSame(frame.opening, live.opening)) return;
    live.types.add(frame.type);
    if (frame.type === 'opened') live.startsAfter = Math.max(live.startsAfter, frame.startsAfter);
    if (frame.type !== 'deliver') return;
    const last = frame.deliverySeq + frame.count - 1;
    if (isSeq(last)) live.deliverySeq = Math.max(live.deliverySeq, last);
    delivered(live, frame.bytes);
  }

  /** The origin's answer is taken. @param startSeq  where it says that it starts */
  opened({ member }: Opening, startSeq: number): Finding {
    const live = this.#live.get(member);
    if (live === undefined) return null;
    if (!live.types.has('opened')) return `${textOf(live.opening)} was not answered, and is open`;
    if (startSeq >= live.startSeq) return null;
    return `${textOf(live.opening)} asked for ${live.startSeq} and starts at ${startSeq}`;
  }

  closed({ member }: Opening, cause: MirrorCause | undefined): Finding {
    const live = this.#live.get(member);
    this.#live.delete(member);
    const needed = cause === undefined ? undefined : NEEDED[cause];
    if (live === undefined || needed === undefined) return null;
    if (needed.some((type) => live.types.has(type))) return null;
    return `${textOf(live.opening)} ended as ${cause!} and brought no ${needed.join(' and no ')}`;
  }

  proposed(member: Member, { what, first, last }: Proposed): Finding {
    const live = this.#live.get(member);
    if (live === undefined) return null;
    const end = Math.max(live.startsAfter, live.highest - 1);
    const isOwn =
      what === 'messages'
        ? first >= live.lowest && last <= live.highest
        : what === 'identity'
          ? live.types.has('opened')
          : last <= end;
    return isOwn ? null : `${textOf(live.opening)} did not bring ${what} ${first}..${last}`;
  }

  credited(opening: Opening, deliverySeq: number): Finding {
    const live = this.#live.get(opening.member);
    if (live === undefined || !isSame(opening, live.opening)) return null;
    if (deliverySeq <= live.deliverySeq) return null;
    return `${textOf(opening)} has no delivery ${deliverySeq}, for which credit is given`;
  }
}

/** Records as far as they can be read: what is malformed is proposed by nobody. */
function delivered(live: Brought, bytes: Uint8Array): void {
  const view = viewOf(bytes);
  for (let at = 0; at + SKIP_BYTES <= bytes.length; at += Math.max(8, recordSize(view, at))) {
    const seq = expectedOf(view, at) + 1;
    live.lowest = Math.min(live.lowest, seq);
    live.highest = Math.max(live.highest, seq);
  }
}

function isSame(a: Opening, b: Opening): boolean {
  return a.generation === b.generation && a.term === b.term && a.member === b.member;
}

function textOf({ member, term, generation }: Opening): string {
  return `${member}'s opening ${generation} of term ${term}`;
}
