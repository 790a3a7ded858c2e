/** How each kind of fault is drawn: whom it strikes, how hard, when. Weak and early come first. */
import * as fc from 'fast-check';
import type { FaultText } from '../scenario/schema.js';
import type { FaultKind } from '../scenario/types.js';

/** A fault without its trigger, and what its trigger is made of. */
export interface FaultDraw {
  readonly text: FaultText;
  readonly trigger: { readonly atMs: number; readonly applied: number | null };
}

const member = fc.constantFrom(
  ...['leader', 'follower', 'follower:lagging', 'follower:ahead', 'any', 'r1'],
);
const links = fc.constantFrom(
  ...['isolate:leader', 'isolate:follower', 'from:any', 'to:follower', 'minority:with-leader'],
);
const spanMs = fc.integer({ min: 1, max: 200 }).map((ms) => `${ms}ms`);
const few = fc.integer({ min: 1, max: 20 });
const leader = fc.constant('leader');
const origin = fc.constant('origin' as const);
const next = fc.integer({ min: 1, max: 50 }).map((count) => `next:${count}`);

const trigger = fc.record({
  atMs: fc.nat({ max: 500 }),
  applied: fc.option(fc.integer({ min: 1, max: 200 }), { nil: null, freq: 3 }),
});

function drawn(shape: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<FaultDraw> {
  return fc.record({ text: fc.record(shape) as fc.Arbitrary<FaultText>, trigger });
}

/** Not drawn: what ends the mirror for good, what has to be known from the start. */
export const FAULTS = {
  stepDown: drawn({ stepDown: leader, to: fc.constantFrom('best', 'none') }),
  flap: drawn({ flap: leader }),
  kill: drawn({ kill: member }),
  failWrites: drawn({ failWrites: member }),
  freeze: drawn({ freeze: member, for: spanMs }),
  slow: drawn({ slow: member, by: fc.constant('2ms'), for: spanMs }),
  failPropose: drawn({
    failPropose: leader,
    times: fc.integer({ min: 1, max: 2 }),
    code: fc.constantFrom('overrun', 'writeFailed'),
  }),
  partition: drawn({ partition: links, for: spanMs }),
  link: drawn({
    link: fc.oneof(links, fc.constant('all')),
    latency: fc.constantFrom('1ms', '1ms..5ms'),
    loss: fc.constantFrom(0, 0.02, 0.1),
    for: spanMs,
  }),
  dropConsumer: drawn({ dropConsumer: origin }),
  refuseOpening: drawn({ refuseOpening: origin, times: fc.constant(1) }),
  loseDeliveries: drawn({ loseDeliveries: origin, times: few }),
  repeatDeliveries: drawn({ repeatDeliveries: origin, times: few }),
  stallOrigin: drawn({ stallOrigin: origin, for: spanMs }),
  originDelete: drawn({ originDelete: next }),
  originPurge: drawn({ originPurge: next }),
  originExpire: drawn({ originExpire: few }),
} as const satisfies Readonly<Partial<Record<FaultKind, fc.Arbitrary<FaultDraw>>>>;

/** Kinds of fault that are drawn. */
export type DrawnKind = keyof typeof FAULTS;
