/** Whom and what a fault means, as written -> as planned. */
import { usageError } from '../base/errors.js';
import type { Slot } from '../base/member.js';
import { SHAPE_MEMBERS_MIN } from './shapes.js';
import type { LinkSelection, Target } from './types.js';
import { nearest } from './words.js';

type Words<T> = Readonly<Record<string, T>>;

const LEADING = { leader: { kind: 'leader' } } as const satisfies Words<Target>;
const MEMBERS = {
  leader: { kind: 'leader' },
  follower: { kind: 'follower', which: 'first' },
  'follower:lagging': { kind: 'follower', which: 'lagging' },
  'follower:ahead': { kind: 'follower', which: 'ahead' },
  any: { kind: 'any' },
} as const satisfies Words<Target>;
const WAYS = { isolate: 'both', from: 'from', to: 'to' } as const;
const SELECTIONS = ['isolate:TARGET', 'from:TARGET', 'to:TARGET', 'bridge:TARGET'];
const WHOLE = {
  'minority:with-leader': { kind: 'minority', withLeader: true },
  'minority:without-leader': { kind: 'minority', withLeader: false },
  ring: { kind: 'shape', shape: 'ring', who: null },
  bridge: { kind: 'shape', shape: 'bridge', who: null },
  spurs: { kind: 'shape', shape: 'spurs', who: null },
  all: { kind: 'all' },
} as const satisfies Words<LinkSelection>;

/** A target as written, of faults that only a leader can suffer, and of those that any can. */
export type LeadingText = keyof typeof LEADING | SlotText;
export type MemberText = keyof typeof MEMBERS | SlotText;
/** Links as written. */
export type LinksText =
  | keyof typeof WHOLE
  | `${keyof typeof WAYS | 'bridge'}:${MemberText}`
  | `${SlotText}${string}/${SlotText}${string}`
  | SlotText[][];
type SlotText = `r${number}`;

/** The target of a fault that only a leader can suffer. Errors: usage. */
export function leadingTarget(where: string, word: string, slots: readonly Slot[]): Target {
  return targetOf(where, word, slots, LEADING);
}

/** The target of a fault that any member can suffer. Errors: usage. */
export function memberTarget(where: string, word: string, slots: readonly Slot[]): Target {
  return targetOf(where, word, slots, MEMBERS);
}

function targetOf(
  where: string,
  word: string,
  slots: readonly Slot[],
  known: Words<Target>,
): Target {
  if (slots.includes(word)) return { kind: 'slot', slot: word };
  if (Object.hasOwn(known, word)) return known[word]!;
  const words = [...Object.keys(known), ...slots];
  throw usageError(where, word, `one of ${words.join(', ')}${nearest(word, words)}`);
}

/** `isolate:leader`, `minority:with-leader`, `r1+r2/r3`, `all`, or a list of sides. */
export function linkSelection(
  where: string,
  raw: string | readonly (readonly string[])[],
  slots: readonly Slot[],
): LinkSelection {
  if (typeof raw !== 'string') return sidesOf(where, raw, slots);
  if (raw.includes('/')) {
    const sides = raw.split('/').map((side) => side.split('+'));
    return sidesOf(where, sides, slots);
  }
  if (Object.hasOwn(WHOLE, raw)) {
    return fitting(where, raw, WHOLE[raw as keyof typeof WHOLE], slots);
  }
  const [word = '', ...rest] = raw.split(':');
  if (Object.hasOwn(WAYS, word) && rest.length > 0) {
    const who = memberTarget(where, rest.join(':'), slots);
    return { kind: 'isolate', who, way: WAYS[word as keyof typeof WAYS] };
  }
  if (word === 'bridge' && rest.length > 0) {
    const who = memberTarget(where, rest.join(':'), slots);
    return fitting(where, raw, { kind: 'shape', shape: 'bridge', who }, slots);
  }
  const sides = `sides such as ${slots.slice(0, 2).join('/')}`;
  const behind = rest.length === 0 ? ':TARGET' : `:${rest.join(':')}`;
  const ways = [...Object.keys(WAYS), 'bridge'].map((way) => `${way}${behind}`);
  const meant = [...ways, ...Object.keys(WHOLE)];
  const words = [...SELECTIONS, ...Object.keys(WHOLE), sides];
  throw usageError(where, raw, `one of ${words.join(', ')}${nearest(raw, meant)}`);
}

/** A shape needs so many members to cut anything. */
function fitting(
  where: string,
  raw: string,
  selection: LinkSelection,
  slots: readonly Slot[],
): LinkSelection {
  if (selection.kind !== 'shape') return selection;
  const least = SHAPE_MEMBERS_MIN[selection.shape];
  if (slots.length >= least) return selection;
  // Replicas are an odd number.
  const takes = least + ((least + 1) % 2);
  throw usageError(where, raw, `possible with ${slots.length} replicas: it takes ${takes}`);
}

function sidesOf(
  where: string,
  sides: readonly (readonly string[])[],
  slots: readonly Slot[],
): LinkSelection {
  const named = sides.flat();
  for (const slot of named) {
    if (!slots.includes(slot)) {
      throw usageError(where, slot, `one of ${slots.join(', ')}${nearest(slot, slots)}`);
    }
  }
  const isTwice = new Set(named).size < named.length;
  if (sides.length >= 2 && !isTwice && sides.every((side) => side.length > 0)) {
    return { kind: 'sides', sides };
  }
  const found = sides.map((side) => side.join('+')).join('/');
  throw usageError(where, found, 'two sides or more, no slot twice, such as r1+r2/r3');
}
