/**
 * What may be heard of a simulation while it runs, beside its events. A tap only listens: with or
 * without it the same happens.
 */
import type { OnDraw } from '../base/prng.js';
import type { ConductorOrder } from '../election/conductor.js';
import type { OriginCommand, OriginFrame } from '../mirror/types.js';
import type { Message } from '../raft/types.js';
import type { LinkFate } from './fates.js';

/** What was sent: between replicas, with the origin, or by the conductor. */
export type Crossed =
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'command'; readonly command: OriginCommand }
  | { readonly kind: 'frame'; readonly frame: OriginFrame }
  | { readonly kind: 'order'; readonly order: ConductorOrder };

/** `delivered` is told when it arrives, `lost` when it is sent, `cut` when it meets the cut. */
export type Became = 'delivered' | 'lost' | 'cut';

export type Crossing = Crossed & {
  readonly atMs: number;
  /** Slots, `origin` or `conductor`. */
  readonly from: string;
  readonly to: string;
  readonly became: Became;
};

export interface Taps {
  readonly onCrossing?: ((crossing: Crossing) => void) | undefined;
  /** A fate of a message struck, given or drawn. */
  readonly onFate?: ((fate: LinkFate, atMs: number) => void) | undefined;
  /** Told of every draw of the world. */
  readonly onDraw?: OnDraw | undefined;
}
