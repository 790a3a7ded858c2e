/**
 * Which directions between members a fault of the network cuts, as pairs of positions. Shapes in
 * which members do not agree on who is there: the ring of majorities and the bridge are Jepsen's,
 * spurs is the partial connectivity under which plain raft keeps no leader (decentralizedthoughts
 * 2020-12-12; the outage of Cloudflare in 2020).
 */

export type Cut = readonly [from: number, to: number];

/**
 * `ring`: everybody sees its neighbours, a majority with itself, and no two see the same.
 * `bridge`: two halves that only one member sees both of.
 * `spurs`: all but the last two see each other; the last two see one other member each.
 */
export type Shape = 'ring' | 'bridge' | 'spurs';

/** How many members a shape needs to cut anything. */
export const SHAPE_MEMBERS_MIN: Readonly<Record<Shape, number>> = { ring: 4, bridge: 3, spurs: 5 };

/** @param shift  turns the shape, so that any member may have any place in it */
export function cutsOfShape(shape: Shape, members: number, shift: number): Cut[] {
  const sees = SIGHT[shape];
  const place = (at: number): number => (at + shift) % members;
  return pairs(members).filter(([from, to]) => !sees(place(from), place(to), members));
}

/** One member from all others: what it hears (`in`), what it says (`out`) or both. */
export function cutsOfOne(member: number, way: 'both' | 'in' | 'out', members: number): Cut[] {
  return pairs(members).filter(
    ([from, to]) => (way !== 'in' && from === member) || (way !== 'out' && to === member),
  );
}

/** The members of a mask from the others; `out`: only what those of the mask say. */
export function cutsOfMask(mask: number, way: 'both' | 'out', members: number): Cut[] {
  const isIn = (at: number): boolean => (mask & (1 << at)) !== 0;
  return pairs(members).filter(
    ([from, to]) => isIn(from) !== isIn(to) && (way === 'both' || isIn(from)),
  );
}

function pairs(members: number): Cut[] {
  const all = Array.from({ length: members }, (_, at) => at);
  return all.flatMap((from) => all.filter((to) => to !== from).map((to) => [from, to] as const));
}

/** Whether two places see each other; the same in both directions. */
const SIGHT: Readonly<Record<Shape, (a: number, b: number, members: number) => boolean>> = {
  ring: (a, b, members) => {
    const apart = Math.abs(a - b);
    return Math.min(apart, members - apart) <= Math.ceil(Math.floor(members / 2) / 2);
  },
  bridge: (a, b, members) => {
    const middle = Math.floor(members / 2);
    return a === middle || b === middle || a < middle === b < middle;
  },
  spurs: (a, b, members) => {
    const [low, high] = a < b ? [a, b] : [b, a];
    if (high < members - 2) return true;
    return low === high - (members - 3);
  },
};
