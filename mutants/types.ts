/** What a mutant is: one known bug as an edit of the built product, and what should see it. */
import type { SwarmFocus } from '../src/sim/swarm-focus.js';

/** An edit of one file of the build. The text must be there exactly once. */
export interface Edit {
  /** Below dist/: `src/raft/election.js`. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

interface Named {
  /** `M5`, `X2`, `P3`, `B1`, `H4`; a letter behind it tells variants of one bug apart. */
  readonly id: string;
  readonly title: string;
  /** Where it was seen in public, or the rule that it breaks. */
  readonly source: string;
}

/** Found by the swarm: seeds are played until a check fails. */
export interface SwarmMutant extends Named {
  readonly edits: readonly Edit[];
  /** Properties that may fail first (src/verdict/sweep.ts, SeedFailure); others are no kill. */
  readonly fires: readonly string[];
  /** What the runs lean to, as `lockstep sweep --focus` has them; not given: drawn. */
  readonly focus?: SwarmFocus;
  /** Seeds within which the swarm must find it, from whatever seed it starts. */
  readonly within?: number;
  /** A named test that must fail on the mutated build where not every hunt ends with a kill. */
  readonly directed?: NamedTest;
}

export interface NamedTest {
  /** A file of test/. */
  readonly test: string;
  /** Part of the titles that are run. */
  readonly titled: string;
}

/**
 * Found by a named test, which must fail on the mutated build: a bug of the checks themselves, or
 * one that a second line of defence hides from every run.
 */
export interface TestedMutant extends Named, NamedTest {
  readonly edits: readonly Edit[];
}

/** Cannot be expressed yet: what it breaks does not exist. */
export interface WaitingMutant extends Named {
  readonly waitsFor: string;
}
