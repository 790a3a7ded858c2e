/**
 * Which links a fault touches, resolved when it fires; the same on every driver. Members are named
 * by their position; the origin's position is the number of members.
 */
import type { Slot } from '../base/member.js';
import { bridgeShift, cutsOfShape, type Shape } from './shapes.js';
import type { LinkAction, LinkSelection, Target } from './types.js';

/** One direction. */
export interface DirectedLink {
  readonly from: number;
  readonly to: number;
}

export interface TouchedLinks {
  readonly links: readonly DirectedLink[];
  /**
   * Members that are apart from the side that goes on: what the budget counts while nothing gets
   * through to or from them.
   */
  readonly apart: readonly number[];
  readonly parted: Parted;
}

/** What is told of a fault of links. */
export interface Parted {
  /** Who is parted from whom: `r1 | r2 r3`; one way, `from r1 to r2 r3`; or `links of r1`. */
  readonly text: string;
  /** Members that a partition leaves without a majority: a leader among them will be replaced. */
  readonly outvoted: readonly Slot[];
}

/** What a selection is resolved against. */
export interface Standing {
  readonly slots: readonly Slot[];
  /** Position of the member that serves; null while nobody does. */
  readonly leader: number | null;
  /** Position of the member that a target names now. */
  readonly positionOf: (target: Target) => number | null;
}

/** Null: a member that it names does not exist at this moment. */
export function touchedLinks(action: LinkAction, standing: Standing): TouchedLinks | null {
  if (action.links.kind === 'shape') return touchedByShape(action, action.links, standing);
  const selection = action.links;
  const sides = sidesOf(selection, standing);
  if (sides === null) return null;
  const { between } = action;
  const way = selection.kind === 'isolate' ? selection.way : 'both';
  const greatest = sides.reduce((best, side) => (side.length > best.length ? side : best));
  const apart = sides.filter((side) => side !== greatest).flat();
  const fromOrigin = selection.kind === 'all' ? sides.flat() : apart;
  const links = [
    ...(between === 'origin' ? [] : across(sides, way)),
    ...(between === 'peers' ? [] : withOrigin(fromOrigin, standing.slots.length, way)),
  ];
  const isCutOff = action.kind === 'partition' && between !== 'origin';
  const { slots } = standing;
  const outvoted = sides.filter((side) => side.length * 2 <= slots.length).flat();
  return {
    links,
    apart: isCutOff ? apart : [],
    parted: {
      text: partedText(action, namesOf(action, sides, greatest, slots), way),
      outvoted: isCutOff ? outvoted.map((at) => slots[at]!) : [],
    },
  };
}

/**
 * A shape sets nobody apart by itself: who leads sees a majority wherever it stands, and those that
 * it does not see owe nothing meanwhile. So many more may not be taken away.
 */
function touchedByShape(
  action: LinkAction,
  { shape, who }: Extract<LinkSelection, { kind: 'shape' }>,
  { slots, leader, positionOf }: Standing,
): TouchedLinks | null {
  const members = slots.length;
  const bridge = who === null ? null : positionOf(who);
  if (who !== null && bridge === null) return null;
  const cuts = cutsOfShape(shape, members, bridge === null ? 0 : bridgeShift(bridge, members));
  const unseenBy = (at: number): number[] => cuts.flatMap(([from, to]) => (from === at ? to : []));
  const everyone = slots.map((_, at) => at);
  const weak = everyone.filter((at) => (members - unseenBy(at).length) * 2 <= members);
  const inTrouble = everyone.filter((at) => unseenBy(at).length > 0);
  const isCutOff = action.kind === 'partition' && action.between !== 'origin';
  const links = [
    ...(action.between === 'origin' ? [] : cuts.map(([from, to]) => ({ from, to }))),
    ...(action.between === 'peers' ? [] : withOrigin(inTrouble, members, 'both')),
  ];
  const apart = weak.length > 0 ? weak : unseenMost(everyone, unseenBy, leader ?? 0);
  return {
    links,
    apart: isCutOff ? apart : [],
    parted: {
      text: shapeText(shape, bridge === null ? null : slots[bridge]!),
      outvoted: isCutOff ? weak.map((at) => slots[at]!) : [],
    },
  };
}

/** As many as whoever sees least does not see: those that the leader does not, then others. */
function unseenMost(
  everyone: readonly number[],
  unseenBy: (at: number) => readonly number[],
  leader: number,
): number[] {
  const most = Math.max(...everyone.map((at) => unseenBy(at).length));
  const unseen = unseenBy(leader);
  const others = everyone.filter((at) => at !== leader && !unseen.includes(at));
  return [...unseen, ...others].slice(0, most);
}

function shapeText(shape: Shape, bridge: Slot | null): string {
  return bridge === null ? shape : `${shape}:${bridge}`;
}

/** A selection as it is written: what is known before anybody stands for a role. */
export function selectionText(selection: LinkSelection): string {
  switch (selection.kind) {
    case 'all':
      return 'all';
    case 'sides':
      return selection.sides.map((side) => side.join(' ')).join(' | ');
    case 'isolate': {
      const word = selection.way === 'both' ? 'isolate' : selection.way;
      return `${word}:${targetWord(selection.who)}`;
    }
    case 'shape':
      return shapeText(selection.shape, selection.who === null ? null : targetWord(selection.who));
    case 'minority':
      return `minority:${selection.withLeader ? 'with' : 'without'}-leader`;
  }
}

/** A target as it is written. */
export function targetWord(target: Target): string {
  switch (target.kind) {
    case 'slot':
      return target.slot;
    case 'follower':
      return target.which === 'first' ? 'follower' : `follower:${target.which}`;
    default:
      return target.kind;
  }
}

/** The sides by name. The origin stays with the greatest, or is apart from all that are. */
function namesOf(
  { links, between }: LinkAction,
  sides: readonly (readonly number[])[],
  greatest: readonly number[],
  slots: readonly Slot[],
): string[] {
  const areAll = links.kind === 'all';
  const name = (side: readonly number[]): string => side.map((at) => slots[at]).join(' ');
  if (between === 'peers') return sides.map(name);
  const apart = areAll ? sides : sides.filter((side) => side !== greatest);
  if (between === 'origin') return [name(apart.flat()), 'origin'];
  if (areAll) return [...sides.map(name), 'origin'];
  return sides.map((side) => (side === greatest ? `${name(side)} origin` : name(side)));
}

function partedText(
  { kind, links }: LinkAction,
  names: readonly string[],
  way: 'both' | 'from' | 'to',
): string {
  const [one = '', ...others] = names;
  if (way === 'from') return `from ${one} to ${others.join(' ')}`;
  if (way === 'to') return `to ${one} from ${others.join(' ')}`;
  if (kind === 'partition' || links.kind !== 'isolate') return names.join(' | ');
  return others.includes('origin') ? names.join(' | ') : `links of ${one}`;
}

/** Whether a selection names nobody that the serving member would have to ask others for. */
export function isKnownToLeader({ links }: LinkAction): boolean {
  const who = links.kind === 'isolate' || links.kind === 'shape' ? links.who : null;
  return who === null || who.kind === 'leader' || who.kind === 'slot';
}

/** Sides with nothing between them. Of an isolated member its own side comes first. */
function sidesOf(
  selection: Exclude<LinkSelection, { kind: 'shape' }>,
  standing: Standing,
): number[][] | null {
  const everyone = standing.slots.map((_, at) => at);
  switch (selection.kind) {
    case 'all':
      return everyone.map((at) => [at]);
    case 'sides': {
      const sides = selection.sides.map((side) => side.map((slot) => standing.slots.indexOf(slot)));
      const named = sides.flat();
      const rest = everyone.filter((at) => !named.includes(at));
      return rest.length === 0 ? sides : [...sides, rest];
    }
    case 'isolate': {
      const who = standing.positionOf(selection.who);
      return who === null ? null : [[who], everyone.filter((at) => at !== who)];
    }
    case 'minority': {
      if (standing.leader === null) return null;
      const minority = minorityOf(everyone, standing.leader, selection.withLeader);
      return [minority, everyone.filter((at) => !minority.includes(at))];
    }
  }
}

/** As many as may be less than half, the leader first or not at all, else by slot. */
function minorityOf(everyone: readonly number[], leader: number, withLeader: boolean): number[] {
  const size = Math.max(1, Math.floor((everyone.length - 1) / 2));
  const others = everyone.filter((at) => at !== leader);
  const ordered = withLeader ? [leader, ...others] : others;
  return ordered.slice(0, size);
}

/** Every link between two sides; one way: only those that leave or reach the first side. */
function across(
  sides: readonly (readonly number[])[],
  way: 'both' | 'from' | 'to',
): DirectedLink[] {
  return sides.flatMap((side, one) =>
    sides.flatMap((other, two) => {
      const isWanted = way === 'both' || (way === 'from') === (one === 0);
      if (one === two || !isWanted) return [];
      return side.flatMap((from) => other.map((to) => ({ from, to })));
    }),
  );
}

/** The links of these members to the origin and back. */
function withOrigin(
  members: readonly number[],
  origin: number,
  way: 'both' | 'from' | 'to',
): DirectedLink[] {
  return members.flatMap((member) => [
    ...(way === 'to' ? [] : [{ from: member, to: origin }]),
    ...(way === 'from' ? [] : [{ from: origin, to: member }]),
  ]);
}
