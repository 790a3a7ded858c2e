/**
 * Seeded randomness. A draw is hash(seed, label, counter of that label), so that removing one
 * consumer of randomness does not move the draws of another, and a replay names the draw it left.
 */

export interface Prng {
  /** An unsigned 32-bit integer. */
  draw(label: string): number;
  /** An integer in [0, bound). */
  below(label: string, bound: number): number;
  /** An integer in [min, max]. */
  between(label: string, min: number, max: number): number;
  /** True with a probability of `part` in `whole`. */
  chance(label: string, part: number, whole: number): boolean;
  /** A generator whose draws are independent of this one's. */
  fork(label: string): Prng;
}

/** Told of every draw: its label with the labels of its forks before it, and what came. */
export type OnDraw = (label: string, value: number) => void;

/** @param onDraw  for the check of determinism */
export function createPrng(seed: number, onDraw?: OnDraw, path = ''): Prng {
  const counters = new Map<string, { hash: number; count: number }>();
  const draw = (label: string): number => {
    let counter = counters.get(label);
    if (counter === undefined) {
      counter = { hash: hashText(seed, path + label), count: 0 };
      counters.set(label, counter);
    }
    const value = mix(counter.hash ^ mix(counter.count++));
    onDraw?.(path + label, value);
    return value;
  };
  const below = (label: string, bound: number): number =>
    Math.floor((draw(label) / 4_294_967_296) * bound);
  return {
    draw,
    below,
    between: (label, min, max) => min + below(label, max - min + 1),
    chance: (label, part, whole) => below(label, whole) < part,
    fork: (label) => createPrng(seed, onDraw, `${path}${label}/`),
  };
}

/** A 32-bit finaliser (the constants of murmur3); pure integer arithmetic on every engine. */
export function mix(value: number): number {
  let hash = (value + 0x9e3779b9) | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function hashText(seed: number, text: string): number {
  let hash = mix(mix(Math.floor(seed / 4_294_967_296) | 0) ^ (seed | 0));
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return mix(hash);
}
