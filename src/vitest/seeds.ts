/**
 * LOCKSTEP_SEEDS: each test of a file is played under so many seeds, as tests of their own that get
 * fixtures of their own. Once a seed failed, or the time is up, the rest of them are skipped with
 * the reason.
 */
import type { TestContext, TestOptions } from 'vitest';
import { LockstepError } from '../base/errors.js';
import type { ClusterEvent } from '../scenario/driver.js';
import { firstDifference } from '../sim/trace.js';
import { canonicalText } from '../verdict/events.js';
import type { Asked } from './environment.js';

/** What a test that is played under a seed carries. */
export interface SeedTurn {
  /** Tests that are the same but for the seed. */
  readonly group: number;
  /** Added to the first seed. */
  readonly offset: number;
  /** The second play of a seed, which has to be as the first one was. */
  readonly again: boolean;
}

declare module 'vitest' {
  interface TaskMeta {
    lockstep?: SeedTurn;
  }
}

interface Group {
  beganMs: number | null;
  failedSeed: number | null;
  /** Of plays that are still to be compared, by the offsets of their seeds. */
  readonly traces: Map<number, Uint8Array>;
}

const groups: Group[] = [];
const ALONE: SeedTurn = { group: -1, offset: 0, again: false };

export function turnOf(task: TestContext['task']): SeedTurn {
  return task.meta.lockstep ?? ALONE;
}

export function groupOf({ group }: SeedTurn): Group {
  return groups[group] ?? newGroup();
}

/** Why this seed is not played; null: it is. */
export function whyNot(group: Group, { timeLimitMs }: Asked): string | null {
  if (group.failedSeed !== null) return `seed ${group.failedSeed} failed`;
  const nowMs = performance.now();
  group.beganMs ??= nowMs;
  const isUp = timeLimitMs !== undefined && nowMs - group.beganMs > timeLimitMs;
  return isUp ? 'LOCKSTEP_TIME_LIMIT is up' : null;
}

/** Errors: harness, when the second play of a seed to end was not the first one's. */
export function compared(
  { traces }: Group,
  { offset }: SeedTurn,
  events: readonly ClusterEvent[],
): void {
  const trace = new TextEncoder().encode(events.map(canonicalText).join('\n'));
  const other = traces.get(offset);
  // Shuffled or side by side, either play may be over first.
  if (other === undefined) {
    traces.set(offset, trace);
    return;
  }
  traces.delete(offset);
  const difference = firstDifference(other, trace);
  if (difference !== null) throw new LockstepError('harness', `not the same twice: ${difference}`);
}

function newGroup(): Group {
  return { beganMs: null, failedSeed: null, traces: new Map() };
}

type Register = (...words: unknown[]) => unknown;

/** Words of vitest's `test` that give a `test` back. */
const CHAINED = ['only', 'concurrent', 'sequential', 'fails', 'skip', 'todo'];
const CALLED = ['skipIf', 'runIf', 'extend', 'override', 'scoped'];
const LISTED = ['each', 'for'];

/** vitest's own `test` with this one's fixtures, each of whose tests is played once a seed. */
export function seeded<T extends object>(test: T, asked: Asked): T {
  const { seeds, checkDeterminism } = asked;
  if (seeds === undefined && !checkDeterminism) return test;
  const word = (name: PropertyKey): Register => (Reflect.get(test, name) as Register).bind(test);
  return new Proxy(test, {
    apply: (target, self, words) =>
      each(words, asked, Reflect.apply.bind(null, target as never, self)),
    get: (target, name) => {
      if (typeof name === 'string') {
        if (CHAINED.includes(name)) return seeded(Reflect.get(target, name) as object, asked);
        if (CALLED.includes(name)) {
          return (...words: unknown[]) => seeded(word(name)(...words) as object, asked);
        }
        if (LISTED.includes(name)) {
          return (...cases: unknown[]) => {
            const register = word(name)(...cases) as Register;
            return (...words: unknown[]) => each(words, asked, (all) => register(...all));
          };
        }
      }
      return Reflect.get(target, name) as unknown;
    },
  });
}

/** Registers a test once for each seed, or twice where its plays are compared. */
function each(
  [name, ...rest]: unknown[],
  { seeds = 1, checkDeterminism }: Asked,
  register: (words: unknown[]) => unknown,
): void {
  const [options, body] = partsOf(rest);
  const group = groups.push(newGroup()) - 1;
  const title = typeof name === 'function' ? name.name : String(name);
  for (let offset = 0; offset < seeds; offset++) {
    const nth = seeds === 1 ? '' : ` (${offset + 1} of ${seeds} seeds)`;
    for (const again of checkDeterminism ? [false, true] : [false]) {
      const turn: SeedTurn = { group, offset, again };
      const meta = { ...options.meta, lockstep: turn };
      register([`${title}${nth}${again ? ' again' : ''}`, { ...options, meta }, body]);
    }
  }
}

/** vitest takes the options or a time-out before or behind the body. */
function partsOf([one, other]: unknown[]): [options: TestOptions, body: unknown] {
  const [body, more] = typeof one === 'function' ? [one, other] : [other, one];
  const options = typeof more === 'number' ? { timeout: more } : ((more ?? {}) as TestOptions);
  return [options, body];
}
