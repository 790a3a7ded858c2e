/**
 * Shapes of a network in which members do not agree on who is there, as what each place sees. The
 * ring of majorities and the bridge are Jepsen's; spurs is the partial connectivity under which
 * plain raft keeps no leader (decentralizedthoughts 2020-12-12; the outage of Cloudflare in 2020).
 */

/** From whom to whom nothing gets through, as positions. */
export type Cut = readonly [from: number, to: number];

/**
 * `ring`: everybody sees its neighbours, a majority with itself, and no two see the same.
 * `bridge`: two halves that only one member sees both of.
 * `spurs`: all but the last two see each other; the last two see one other member each.
 */
export const SHAPES = ['ring', 'bridge', 'spurs'] as const;
export type Shape = (typeof SHAPES)[number];

/** How many members a shape needs to cut anything. */
export const SHAPE_MEMBERS_MIN: Readonly<Record<Shape, number>> = { ring: 4, bridge: 3, spurs: 5 };

/** @param shift  turns the shape, so that any member may have any place in it */
export function cutsOfShape(shape: Shape, members: number, shift: number): Cut[] {
  const sees = SIGHT[shape];
  const place = (at: number): number => (at + shift) % members;
  return pairs(members).filter(([from, to]) => !sees(place(from), place(to), members));
}

/** The shift that puts a member into the middle of a bridge. */
export function bridgeShift(member: number, members: number): number {
  return (Math.floor(members / 2) - member + members) % members;
}

/** Every two members, in both directions. */
export function pairs(members: number): Cut[] {
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
