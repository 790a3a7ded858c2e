/** What the hunts and tests say of each mutant: killed or not, how fast, by what first. */
import type { Hunt } from './hunt.js';
import type { TestedMutant } from './types.js';

/** Of one mutant. Figures are over the bases that killed it; null when none did. */
export interface Outcome {
  readonly id: string;
  readonly title: string;
  readonly source: string;
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
  /** Events of the shortest script known by hand; null where a test kills. */
  readonly script: number | null;
  /** A seed that shows it. */
  readonly seed: number | null;
  readonly text: string | null;
  /** The file of a named test that killed it where hunts did not; null: none was needed. */
  readonly directed: string | null;
}

/** What a test says of a mutant. */
export interface Trial {
  readonly mutant: TestedMutant;
  readonly result: 'killed' | 'survived' | 'trouble';
  readonly text: string | null;
}

export function outcomeOfHunt({ mutant, bases, trouble }: Hunt): Outcome {
  const { id, title, source, fires, script } = mutant;
  const kills = bases.filter(({ killed }) => killed !== null && fires.includes(killed.property));
  const others = bases.filter(({ killed }) => killed !== null && !fires.includes(killed.property));
  const first = kills[0]?.killed ?? others[0]?.killed ?? null;
  const state = kills.length < bases.length || bases.length === 0 ? 'survived' : 'killed';
  return {
    ...{ id, title, source },
    state: trouble !== null && state !== 'killed' ? 'trouble' : state,
    killed: kills.length,
    bases: bases.length,
    seeds: spread(kills.map(({ seeds }) => seeds)),
    cpuMs: spread(kills.map(({ cpuMs }) => cpuMs)),
    by: countsOf(kills.map(({ killed }) => killed!.property)),
    other: countsOf(others.map(({ killed }) => killed!.property)),
    script,
    seed: first?.seed ?? null,
    text: trouble ?? first?.text ?? null,
    directed: null,
  };
}

export function outcomeOfTrial({ mutant, result, text }: Trial): Outcome {
  const { id, title, source, test } = mutant;
  const killed = result === 'killed' ? 1 : 0;
  return {
    ...{ id, title, source },
    state: result,
    killed,
    bases: 1,
    seeds: null,
    cpuMs: null,
    by: killed === 0 ? {} : { [test]: 1 },
    other: {},
    script: null,
    seed: null,
    text,
    directed: null,
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
