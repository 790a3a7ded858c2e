import { describe, expect, it } from 'vitest';
import { askedOf, type Asked } from '../../src/vitest/environment.js';
import { compared, groupOf, seeded, whyNot, type SeedTurn } from '../../src/vitest/seeds.js';
import type { ClusterEvent } from '../../src/scenario/driver.js';

const body = (): void => undefined;

interface Registered {
  readonly chain: string;
  readonly name: string;
  readonly options: { timeout?: number; meta: { lockstep: SeedTurn } };
  readonly body: unknown;
}

/** What of vitest's `test` is called. */
function stand(chain = ''): { test: typeof body; registered: Registered[] } {
  const registered: Registered[] = [];
  const made = (at: string): typeof body => {
    const test = (name: string, options: Registered['options'], body: unknown): void =>
      void registered.push({ chain: at, name, options, body });
    return Object.defineProperties(test as unknown as typeof body, {
      only: { get: () => made(`${at}only `) },
      override: { configurable: true, value: () => made(`${at}override `) },
      each: {
        configurable: true,
        value:
          (cases: unknown[]) => (name: string, options: Registered['options'], call: unknown) => {
            for (const each of cases) test(`${name} ${String(each)}`, options, call);
          },
      },
      other: { value: 7 },
    });
  };
  return { test: made(chain), registered };
}

type Test = (...words: unknown[]) => void;
type Words = Test & { only: Test; override: () => Test; each: (cases: unknown[]) => Test };

function play(environment: Record<string, string>, use: (test: Words) => void): Registered[] {
  const { test, registered } = stand();
  use(seeded(test, askedOf(environment)) as unknown as Words);
  return registered;
}

function turns(registered: readonly Registered[]): (string | number | boolean)[][] {
  return registered.map(({ name, options }) => {
    const { offset, again } = options.meta.lockstep;
    return [name, offset, again];
  });
}

describe('vitest: seeds', () => {
  it('nothing is asked for -> the test itself', () => {
    const { test } = stand();
    expect(seeded(test, askedOf({ LOCKSTEP_SEED: '3' }))).toBe(test);
  });

  it('LOCKSTEP_SEEDS: a test for each seed, wherever its options stand', () => {
    const registered = play({ LOCKSTEP_SEEDS: '2' }, (test) => {
      test('a', body);
      test('b', body, 500);
      test('c', { timeout: 600 }, body);
    });
    expect(turns(registered)).toEqual([
      ['a (1 of 2 seeds)', 0, false],
      ['a (2 of 2 seeds)', 1, false],
      ['b (1 of 2 seeds)', 0, false],
      ['b (2 of 2 seeds)', 1, false],
      ['c (1 of 2 seeds)', 0, false],
      ['c (2 of 2 seeds)', 1, false],
    ]);
    expect(registered.map((each) => [each.options.timeout, each.body])).toEqual([
      ...Array<unknown>(2).fill([undefined, body]),
      ...Array<unknown>(2).fill([500, body]),
      ...Array<unknown>(2).fill([600, body]),
    ]);
    const groups = registered.map(({ options }) => options.meta.lockstep.group);
    expect(new Set(groups).size).toBe(3);
  });

  it('LOCKSTEP_CHECK_DETERMINISM: each seed twice', () => {
    const registered = play({ LOCKSTEP_SEEDS: '2', LOCKSTEP_CHECK_DETERMINISM: '1' }, (test) => {
      test('a', body);
    });
    expect(turns(registered)).toEqual([
      ['a (1 of 2 seeds)', 0, false],
      ['a (1 of 2 seeds) again', 0, true],
      ['a (2 of 2 seeds)', 1, false],
      ['a (2 of 2 seeds) again', 1, true],
    ]);
    const once = play({ LOCKSTEP_CHECK_DETERMINISM: '1' }, (test) => test('a', body));
    expect(once.map(({ name }) => name)).toEqual(['a', 'a again']);
  });

  it('words that give a test back, and lists of cases', () => {
    const registered = play({ LOCKSTEP_SEEDS: '2' }, (test) => {
      test.only('a', body);
      test.override()('b', body);
      test.each([1, 2])('c', body);
      expect(Reflect.get(test, 'other')).toBe(7);
    });
    expect(registered.map(({ chain, name }) => chain + name)).toEqual([
      'only a (1 of 2 seeds)',
      'only a (2 of 2 seeds)',
      'override b (1 of 2 seeds)',
      'override b (2 of 2 seeds)',
      'c (1 of 2 seeds) 1',
      'c (1 of 2 seeds) 2',
      'c (2 of 2 seeds) 1',
      'c (2 of 2 seeds) 2',
    ]);
  });
});

describe('vitest: seeds: one group', () => {
  const asked: Asked = askedOf({ LOCKSTEP_SEEDS: '2', LOCKSTEP_TIME_LIMIT: '1h' });
  const turn = (again: boolean, offset = 0): SeedTurn => ({ group: -1, offset, again });

  it('a seed that failed, and time that is up, keep the others from being played', () => {
    const group = groupOf(turn(false));
    expect(whyNot(group, asked)).toBe(null);
    expect(whyNot({ ...group, failedSeed: 7 }, asked)).toBe('seed 7 failed');
    const long = { ...group, beganMs: performance.now() - 3_700_000 };
    expect(whyNot(long, asked)).toBe('LOCKSTEP_TIME_LIMIT is up');
    expect(whyNot(long, askedOf({}))).toBe(null);
  });

  it('two plays of a seed: equal, or the first difference', () => {
    const group = groupOf(turn(false));
    const event = (atMs: number): ClusterEvent => ({ kind: 'firstDelivery', atMs });
    compared(group, turn(false), [event(1), event(2)]);
    compared(group, turn(true), [event(1), event(2)]);
    compared(group, turn(true), [event(5)]);
    compared(group, turn(true, 2), [event(7)]);
    expect(() => compared(group, turn(false, 2), [event(8)])).toThrow('not the same twice');
    compared(group, turn(false, 1), [event(1), event(2)]);
    expect(() => compared(group, turn(true, 1), [event(1), event(3)])).toThrow(
      'not the same twice: event 2 is {"atMs":2,"kind":"firstDelivery"}, ' +
        'or {"atMs":3,"kind":"firstDelivery"}',
    );
  });
});
