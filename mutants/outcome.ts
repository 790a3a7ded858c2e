/** What the hunts and tests say of each mutant: killed or not, how fast, by what first. */
import type { Hunt } from './hunt.js';
import type { PartsPlayed } from './hunter.js';
import type { TestedMutant } from './types.js';

/** Of one mutant. Figures are over the bases that killed it; null when none did. */
export interface Outcome {
  readonly id: string;
  readonly title: string;
  readonly source: string;
  /** What the runs leaned to; null: each drew it. */
  readonly focus: string | null;
  /** `survived`: a check is missing. `trouble`: nothing is known. */
  readonly state: 'killed' | 'survived' | 'trouble';
  readonly killed: number;
  readonly bases: number;
  readonly seeds: { readonly median: number; readonly p95: number } | null;
  readonly cpuMs: { readonly median: number; readonly p95: number } | null;
  /** What failed first, by how many bases; of a test: its file. */
  readonly by: Readonly<Record<string, number>>;
  /** Failed first although the mutant does not name it: no kill. */
  readonly other: Readonly<Record<string, number>>;
  /** The shortest script that is known; null: there is none, or it was not played. */
  readonly known: Known | null;
  /** What shrinking the first kills came to; null: none was shrunk. */
  readonly shrunk: Shrunken | null;
  /** Replay files of shrunk kills that were played; null: none. */
  readonly replays: Replays | null;
  /** A seed that shows it. */
  readonly seed: number | null;
  readonly text: string | null;
  /** The file of a named test that killed it where hunts did not; null: none was needed. */
  readonly directed: string | null;
}

export interface Shrunken {
  /** Faults and fates: of the smallest, and of all, median and worst. */
  readonly events: { readonly least: number; readonly median: number; readonly p95: number };
  readonly cpuMs: { readonly median: number; readonly p95: number };
  /** How many were shrunk, and how many of them to their end. */
  readonly times: number;
  readonly minimal: number;
}

export interface Known {
  /** Faults and fates. */
  readonly events: number;
  readonly byHand: boolean;
  readonly parts: PartsPlayed;
  readonly replays: Replays;
}

export interface Replays {
  readonly played: number;
  /** Twice the same event stream, and the failure that it was written for. */
  readonly same: number;
  /** They hold on the build without the bug. */
  readonly held: number;
}

/** What a test says of a mutant. */
export interface Trial {
  readonly mutant: TestedMutant;
  readonly result: 'killed' | 'survived' | 'trouble';
  readonly text: string | null;
}

export function outcomeOfHunt(found: Hunt): Outcome {
  const { mutant, bases } = found;
  const { id, title, source, fires } = mutant;
  const known = knownOf(found);
  const trouble = found.trouble ?? replayTrouble(found);
  const kills = bases.filter(({ killed }) => killed !== null && fires.includes(killed.property));
  const others = bases.filter(({ killed }) => killed !== null && !fires.includes(killed.property));
  const first = kills[0]?.killed ?? others[0]?.killed ?? null;
  // What was missed was missed, however the hunt ended.
  const missed = kills.length < bases.length;
  // With no bases the script alone was played; that it does not kill is trouble.
  const state = missed || (bases.length === 0 && known === null) ? 'survived' : 'killed';
  return {
    ...{ id, title, source, focus: mutant.focus ?? null },
    state: trouble === null || missed ? state : 'trouble',
    killed: kills.length,
    bases: bases.length,
    seeds: spread(kills.map(({ seeds }) => seeds)),
    cpuMs: spread(kills.map(({ cpuMs }) => cpuMs)),
    by: countsOf(kills.map(({ killed }) => killed!.property)),
    other: countsOf(others.map(({ killed }) => killed!.property)),
    known,
    shrunk: shrunkenOf(found),
    replays: found.shrunk.length === 0 ? null : replaysOf(found.shrunk, fires),
    seed: first?.seed ?? null,
    text: trouble ?? first?.text ?? null,
    directed: null,
  };
}

function shrunkenOf({ shrunk }: Hunt): Shrunken | null {
  const events = spread(shrunk.map(({ to }) => to));
  const cpuMs = spread(shrunk.map((each) => each.cpuMs));
  if (events === null || cpuMs === null) return null;
  const least = Math.min(...shrunk.map(({ to }) => to));
  const minimal = shrunk.filter(({ end }) => end === 'minimal').length;
  return { events: { least, ...events }, cpuMs, times: shrunk.length, minimal };
}

function knownOf({ script, mutant: { fires } }: Hunt): Known | null {
  if (script === null) return null;
  const { events, byHand, parts } = script;
  return { events, byHand, parts, replays: replaysOf([script], fires) };
}

type Played = Hunt['shrunk'][number] | NonNullable<Hunt['script']>;

function replaysOf(all: readonly Played[], fires: readonly string[]): Replays {
  const count = (is: (played: Played) => boolean): number => all.filter(is).length;
  const same = count((played) => isSame(played, fires));
  return { played: all.length, same, held: count(({ clean }) => clean === null) };
}

/** A script may fail of any property that kills; what was shrunk fails of the one it shrank by. */
function isSame({ replayed: { failure, digests } }: Played, fires: readonly string[]): boolean {
  return digests[0] === digests[1] && failure !== null && fires.includes(failure.property);
}

/** The first replay that is not what it should be, in words. */
function replayTrouble(found: Hunt): string | null {
  const { mutant, shrunk, script } = found;
  const { fires } = mutant;
  for (const played of script === null ? shrunk : [...shrunk, script]) {
    const what = played.kind === 'script' ? 'the script' : `seed ${played.seed}`;
    const { digests, failure } = played.replayed;
    if (digests[0] !== digests[1]) return `${what} is not the same twice`;
    if (!isSame(played, fires)) return `${what} came to ${failure?.property ?? 'held'}`;
    if (played.clean !== null) return `${what} fails without the bug: ${played.clean.text}`;
  }
  const { played, killed } = script?.parts ?? { played: 0, killed: 0 };
  return killed === 0 ? null : `${killed} of ${played} parts of the script kill too`;
}

export function outcomeOfTrial({ mutant, result, text }: Trial): Outcome {
  const { id, title, source, test } = mutant;
  const killed = result === 'killed' ? 1 : 0;
  return {
    ...{ id, title, source, focus: null },
    state: result,
    killed,
    bases: 1,
    seeds: null,
    cpuMs: null,
    by: killed === 0 ? {} : { [test]: 1 },
    other: {},
    known: null,
    shrunk: null,
    replays: null,
    seed: null,
    text,
    directed: null,
  };
}

/** Two results of one mutant: of the hunts the larger one counts, of replays what there is. */
export function mergeOutcomes(one: Outcome, other: Outcome): Outcome {
  const [larger, smaller] = other.bases >= one.bases ? [other, one] : [one, other];
  const sound = larger.state === 'trouble' ? smaller : larger;
  return {
    ...sound,
    known: other.known ?? one.known,
    shrunk: other.shrunk ?? one.shrunk,
    replays: other.replays ?? one.replays,
  };
}

/** What no hunt, or not every one, has killed: its named test decides. */
export function withTrial(hunted: Outcome, { mutant, result, text }: Trial): Outcome {
  if (result !== 'killed') return { ...hunted, text: text ?? hunted.text };
  return { ...hunted, state: 'killed', directed: mutant.test };
}

/** Nearest rank. */
function spread(values: readonly number[]): { median: number; p95: number } | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const rank = (part: number): number => sorted[Math.ceil(part * sorted.length) - 1]!;
  return { median: rank(0.5), p95: rank(0.95) };
}

/** Most frequent first. */
function countsOf(properties: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const property of properties) counts.set(property, (counts.get(property) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([, one], [, other]) => other - one));
}
