/**
 * What a mirror did under one term. It is made anew for each leadership, so that two of one member
 * are never seen as one (case B2), and it outlives openings: what was accepted in an earlier one
 * stands before ours in the log.
 */
import { LockstepError, toErrorData, type ErrorData } from '../base/errors.js';
import type { Outbox } from './outbox.js';
import type { MirrorPorts, Proposal } from './ports.js';
import type { OriginIdentity } from './types.js';

export class Leadership {
  readonly #term: number;
  readonly #ports: MirrorPorts;
  readonly #outbox: Outbox;
  #skipsAccepted: number;
  #acceptedMessages = false;
  #acceptedIdentity: OriginIdentity | null = null;

  constructor(term: number, skipsBefore: number, ports: MirrorPorts, outbox: Outbox) {
    this.#term = term;
    this.#skipsAccepted = skipsBefore;
    this.#ports = ports;
    this.#outbox = outbox;
  }

  get term(): number {
    return this.#term;
  }

  get skipsAccepted(): number {
    return this.#skipsAccepted;
  }

  /**
   * Whether a command proposed now may meet messages when it is applied. A reset proposed behind
   * messages that are accepted and not applied yet would be out of place.
   */
  get mayHoldMessages(): boolean {
    return this.#acceptedMessages || this.#ports.storeMessages() > 0;
  }

  /**
   * The origin that the store copies, or will once what this leadership proposed is applied: until
   * then a second answer must not bring another origin's messages in behind the first one's.
   */
  get identity(): OriginIdentity | null {
    return this.#ports.storeIdentity() ?? this.#acceptedIdentity;
  }

  /** Null: accepted. The error's code is the refusal's. */
  propose(proposal: Proposal): ErrorData | null {
    const { what, count, bytes, first, last } = proposal;
    const term = this.#term;
    const result = this.#ports.propose(term, { count, bytes }, what);
    const refused = result.accepted ? null : refusal(result.code, proposal);
    this.#outbox.event({ kind: 'propose', what, term, first, last, count, refused });
    if (refused !== null) return refused;
    if (what === 'messages') this.#acceptedMessages = true;
    if (what === 'skips') this.#skipsAccepted += count;
    return null;
  }

  identified(identity: OriginIdentity): void {
    this.#acceptedIdentity = identity;
  }
}

function refusal(code: ErrorData['code'], { what, first, last }: Proposal): ErrorData {
  return toErrorData(new LockstepError(code, `${what} ${first}..${last} refused: ${code}`));
}
