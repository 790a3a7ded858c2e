/** Which directions between members a fault of a drawn run cuts, as pairs of positions. */
import { pairs, type Cut } from '../scenario/shapes.js';

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
