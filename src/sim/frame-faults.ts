/**
 * What an origin of the simulation may say wrongly or late: answers without what they must have
 * (upstream 61e59f526), answers to an older request that come after a newer one (case E2),
 * deliveries that are not what they say. Nothing here lies in a way that nobody could tell.
 */
import type { OriginFrame } from '../mirror/types.js';

/**
 * Of an answer; `beforeAsked` and `beyondLast` are well-formed, with a start that cannot be. Before
 * the first sequence there is none: `beforeAsked` waits for an answer to who asks for a later one.
 */
export type AnswerFault =
  'noIdentity' | 'noStart' | 'noLast' | 'noPending' | 'beforeAsked' | 'beyondLast' | 'tooLarge';

/** Of a delivery: its last byte missing, a count too many, no delivery number, none pending. */
export type DeliveryFault = 'cut' | 'count' | 'noNumber' | 'noPending';

type Answer = Extract<OriginFrame, { type: 'opened' }>;
type Delivery = Extract<OriginFrame, { type: 'deliver' }>;

/** A frame as it leaves, and by how much later than it would. */
export interface Leaving {
  readonly frame: OriginFrame;
  readonly lateByUs: number;
}

interface Armed<T> {
  readonly how: T;
  left: number;
}

export class FrameFaults {
  #answers: Armed<AnswerFault> | null = null;
  #deliveries: Armed<DeliveryFault> | null = null;
  #late: Armed<number> | null = null;

  spoilAnswers(how: AnswerFault, count: number): void {
    this.#answers = { how, left: count };
  }

  spoilDeliveries(how: DeliveryFault, count: number): void {
    this.#deliveries = { how, left: count };
  }

  /** The next answers, refusals among them, leave so much later than what follows them. */
  delayAnswers(byUs: number, count: number): void {
    this.#late = { how: byUs, left: count };
  }

  clear(): void {
    this.#answers = null;
    this.#deliveries = null;
    this.#late = null;
  }

  leaving(frame: OriginFrame): Leaving {
    switch (frame.type) {
      case 'opened': {
        const isFirst = frame.startsAfter === 0 && this.#answers?.how === 'beforeAsked';
        const how = isFirst ? null : take(this.#answers);
        const said = how === null ? frame : spoiltAnswer(frame, how);
        return { frame: said, lateByUs: take(this.#late) ?? 0 };
      }
      case 'refused':
        return { frame, lateByUs: take(this.#late) ?? 0 };
      case 'deliver': {
        const how = take(this.#deliveries);
        return { frame: how === null ? frame : spoiltDelivery(frame, how), lateByUs: 0 };
      }
      case 'heartbeat':
        return { frame, lateByUs: 0 };
    }
  }
}

function take<T>(armed: Armed<T> | null): T | null {
  if (armed === null || armed.left === 0) return null;
  armed.left--;
  return armed.how;
}

/** What a frame lacks is undefined in it, whatever its type promises. */
function without<T extends OriginFrame>(frame: T, field: string): T {
  return { ...frame, [field]: undefined };
}

function spoiltAnswer(answer: Answer, how: AnswerFault): Answer {
  switch (how) {
    case 'noIdentity':
      return without(answer, 'identity');
    case 'noStart':
      return without(answer, 'startsAfter');
    case 'noLast':
      return without(answer, 'last');
    case 'noPending':
      return without(answer, 'pending');
    case 'beforeAsked':
      return { ...answer, startsAfter: 0 };
    case 'beyondLast':
      return { ...answer, startsAfter: answer.last + 1 };
    case 'tooLarge':
      return { ...answer, startsAfter: Number.MAX_VALUE };
  }
}

function spoiltDelivery(delivery: Delivery, how: DeliveryFault): Delivery {
  switch (how) {
    case 'cut':
      return { ...delivery, bytes: delivery.bytes.subarray(0, delivery.bytes.length - 1) };
    case 'count':
      return { ...delivery, count: delivery.count + 1 };
    case 'noNumber':
      return without(delivery, 'deliverySeq');
    case 'noPending':
      return without(delivery, 'pending');
  }
}
