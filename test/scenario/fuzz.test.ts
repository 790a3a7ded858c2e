import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { LockstepError } from '../../src/base/errors.js';
import { faultLine, originLine } from '../../src/scenario/lines.js';
import { parseScenario, planScenario } from '../../src/scenario/parse.js';
import { FAULT_KINDS } from '../../src/scenario/schema.js';
import type { FaultKind } from '../../src/scenario/types.js';
import { FIXTURES, filesOf } from './stage.js';

/** The same draws every time. */
const RUNS = { numRuns: 2_000, seed: 1 };
const BREAKS_LINES = /[\p{Cc}\u2028\u2029]/u;

type Outcome = 'accepted' | 'refused';

/** The property: done, or refused as usage in one line; whatever else is thrown fails it. */
function outcomeOf(call: () => unknown): Outcome {
  try {
    call();
    return 'accepted';
  } catch (error) {
    if (!(error instanceof LockstepError)) throw error;
    expect(error.code).toBe('usage');
    expect(error.message).not.toMatch(BREAKS_LINES);
    expect(error.message.length).toBeLessThan(1_000);
    return 'refused';
  }
}

const odd = fc.oneof(
  fc.anything({ maxDepth: 2, withBigInt: true, withDate: true, withMap: true }),
  fc.constantFrom('', 'a\nb', '\u2028', 'leader', 'r1', '1s', '1e3', -1, 0, 1e21, Number.NaN, null),
  fc.string({ unit: 'binary', maxLength: 200 }),
);

/** Mostly right, so that checks behind the schema are reached. */
function mostly<T>(right: fc.Arbitrary<T>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 30, arbitrary: right }, { weight: 1, arbitrary: odd });
}

/** Rarely anything: what seldom fits what it is drawn for. */
function few<T>(unlikely: fc.Arbitrary<T>): fc.Arbitrary<T | object> {
  return fc.oneof({ weight: 5, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: unlikely });
}

const count = mostly(fc.oneof(fc.integer({ min: 1, max: 300 }), fc.constantFrom('1e3', '1_0')));
const duration = mostly(fc.constantFrom('1ms', '20ms', '1.5s', '2m', '9h'));
const durations = mostly(fc.constantFrom('1ms', '20ms..50ms', '1s..2m'));
const target = mostly(
  fc.constantFrom('leader', 'leader', 'r1', 'follower', 'follower:lagging', 'any'),
);
const links = mostly(
  fc.oneof(
    fc.constantFrom('isolate:leader', 'to:follower:ahead', 'minority:with-leader', 'all', 'r1/r2'),
    fc.constant([['r1'], ['r2', 'r3']]),
  ),
);
const chance = mostly(fc.constantFrom(0.5, '0.02', 1));
const id = mostly(fc.constantFrom('a', 'b', 'c', 'faults[0]'));
const drivers = mostly(
  fc.array(fc.constantFrom('threads', 'sim', 'nats'), { minLength: 1, maxLength: 3 }),
);

const state = mostly(
  fc.oneof(
    fc.record({ skipped: count }),
    fc.record({ applied: count }),
    fc.record({ term: count }),
    fc.record({ role: fc.constantFrom('leader', 'candidate') }),
  ),
);
const trigger = fc.oneof(
  fc.record({ at: durations }),
  fc.record({ at: duration, every: durations, repeat: count }),
  fc.record({ when: state, within: duration }, { requiredKeys: ['when'] }),
  fc.record({ after: id, delay: duration }, { requiredKeys: ['after'] }),
);
const KIND_VALUES: Readonly<Partial<Record<FaultKind, fc.Arbitrary<unknown>>>> = {
  partition: links,
  link: links,
  originDelete: mostly(fc.constantFrom('1..20', 'next:5')),
  originPurge: mostly(fc.constantFrom(20, '1e3', 'next:5')),
  originExpire: count,
  originRecreate: count,
};
const ofOrigin = mostly(fc.constantFrom(true, 'origin'));
const ALONE: readonly FaultKind[] = [
  ...(['dropConsumer', 'refuseOpening', 'loseDeliveries'] as const),
  ...(['repeatDeliveries', 'stallOrigin'] as const),
];
const kind = fc.constantFrom(...FAULT_KINDS).chain((name) => {
  const value = KIND_VALUES[name] ?? (ALONE.includes(name) ? ofOrigin : target);
  return value.map((drawn) => ({ [name]: drawn }));
});
const parameters = fc.record(
  {
    ...{ id, on: drivers, to: target, for: duration, times: count, code: odd, fro: odd },
    ...{ by: duration, rate: chance, between: mostly(fc.constantFrom('peers', 'origin', 'all')) },
    ...{ latency: durations, loss: chance, duplicate: chance, reorder: chance },
  },
  { requiredKeys: [] },
);
const fault = mostly(
  fc
    .tuple(kind, trigger, few(parameters))
    .map((parts): object => Object.assign({}, ...parts) as object),
);
const gap = mostly(fc.record({ after: count, count }));
const origin = mostly(
  fc.oneof(
    fc.record({
      synthetic: fc.record(
        { messages: count, size: count, rate: count, gaps: fc.array(gap, { maxLength: 2 }) },
        { requiredKeys: ['messages'] },
      ),
    }),
    fc.record({
      natsGaps: fc.record({
        file: mostly(fc.constantFrom('ORDERS.gaps.json', 'WIDE.gaps.json')),
        info: mostly(fc.constantFrom('ORDERS.info.json', 'WIDE.info.json')),
      }),
    }),
  ),
);
const scenario = fc.record(
  {
    version: mostly(fc.constant(1)),
    name: mostly(fc.string({ minLength: 1 })),
    origin,
    seed: count,
    replicas: mostly(fc.constantFrom(3, '5', 7)),
    election: mostly(fc.constantFrom('both', 'timers')),
    timeScale: mostly(fc.constantFrom(0.05, 'upstream')),
    mirror: mostly(fc.record({ skip: fc.constantFrom('entries', 'range') })),
    faults: mostly(fc.array(fault, { maxLength: 3 })),
    beyondQuorum: mostly(fc.boolean()),
    timeLimit: duration,
    expect: mostly(fc.record({ stallAtMost: duration })),
    extra: odd,
  },
  { requiredKeys: ['version', 'name', 'origin'] },
);
/** Every optional key is drawn half the time; a key that is not known spoils all, so rarely. */
const likely = fc.tuple(scenario, fc.integer({ min: 0, max: 9 })).map(([drawn, chance]) => {
  const { extra, ...others } = drawn as Record<string, unknown>;
  return chance === 0 ? { ...others, extra } : others;
});

/** Both outcomes come up, so the property is not held by refusing everything. */
function expectBoth(tally: ReadonlyMap<Outcome, number>): void {
  expect(tally.get('accepted') ?? 0).toBeGreaterThan(20);
  expect(tally.get('refused') ?? 0).toBeGreaterThan(20);
}

function tallied(tally: Map<Outcome, number>, outcome: Outcome): void {
  tally.set(outcome, (tally.get(outcome) ?? 0) + 1);
}

describe('scenario: whatever it is given, a plan or one line', () => {
  it('data that is nearly right', () => {
    const tally = new Map<Outcome, number>();
    fc.assert(
      fc.property(likely, (raw) => {
        tallied(
          tally,
          outcomeOf(() => planScenario(raw, 'fuzz', FIXTURES)),
        );
      }),
      RUNS,
    );
    expectBoth(tally);
  });

  it('data of any kind', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withNullPrototype: true }), (raw) => {
        expect(outcomeOf(() => planScenario(raw, 'fuzz', FIXTURES))).toBe('refused');
      }),
      RUNS,
    );
  });

  it('text: YAML with pieces changed, taken out or put in', () => {
    const piece = fc.constantFrom(
      ...['[', ']', '{', '}', ':', ': ', '- ', '\n', '  ', '&a ', '*a', '!!x ', '|', '>', '"', "'"],
      ...['#', '? ', '---\n', '...\n', '%', '\t', '\u0000', '\r', '\u2028', '<<: ', '~', '.nan'],
    );
    const edit = fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      remove: fc.nat(4),
      insert: fc.option(piece, { nil: '' }),
    });
    const tally = new Map<Outcome, number>();
    const texts = fc.tuple(likely, fc.array(edit, { maxLength: 3 }));
    fc.assert(
      fc.property(texts, ([raw, edits]) => {
        let text = stringify(JSON.parse(JSON.stringify(raw, plainValue)));
        for (const { at, remove, insert } of edits) {
          const from = Math.floor(at * text.length);
          text = text.slice(0, from) + insert + text.slice(from + remove);
        }
        tallied(
          tally,
          outcomeOf(() => parseScenario(text, 'fuzz.yaml', FIXTURES)),
        );
      }),
      RUNS,
    );
    expectBoth(tally);
  });

  it('text of any kind, and text that nests deeply', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(outcomeOf(() => parseScenario(text, 'fuzz.yaml', FIXTURES))).toBe('refused');
      }),
      RUNS,
    );
    for (const opening of ['[', '{a: ', '- ', '? ']) {
      const text = `version: 1\nfaults: ${opening.repeat(20_000)}`;
      expect(outcomeOf(() => parseScenario(text, 'fuzz.yaml', FIXTURES))).toBe('refused');
    }
  });

  it('lines of the command line, with pieces of right ones', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ...[
          'stepDown=leader',
          'kill=r1',
          'dropConsumer',
          'at=1s',
          'when=skipped:10',
          'on=sim+nats',
        ],
        ...['messages=1e3', 'gap=4+5', 'rate=10', 'synthetic:', 'nats-gaps:', 'info=a', ',', ':'],
      ),
      fc.string({ unit: 'binary', maxLength: 8 }),
    );
    const line = fc
      .tuple(fc.array(piece, { maxLength: 4 }), fc.constantFrom('', ','))
      .map(([pieces, between]) => pieces.join(between));
    const tally = new Map<Outcome, number>();
    fc.assert(
      fc.property(line, (text) => {
        tallied(
          tally,
          outcomeOf(() => faultLine(text)),
        );
        tallied(
          tally,
          outcomeOf(() => originLine(text)),
        );
      }),
      RUNS,
    );
    expectBoth(tally);
  });

  it('files of natscli that are something else', () => {
    const real = fc.constantFrom(FIXTURES('ORDERS.info.json'), FIXTURES('ORDERS.gaps.json'));
    const other = fc.oneof(
      fc.json({ maxDepth: 3 }),
      fc.string({ unit: 'binary' }),
      fc
        .record({
          config: fc.record({ name: mostly(fc.string()) }),
          state: fc.record({
            messages: mostly(fc.nat(20)),
            first_seq: mostly(fc.nat(20)),
            last_seq: mostly(fc.nat(20)),
          }),
        })
        .map((info) => JSON.stringify(info, plainValue)),
      fc
        .array(fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 3 }))
        .map((gaps) => JSON.stringify(gaps)),
      fc.constant('{}'),
      fc.integer({ min: 1, max: 50_000 }).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
    );
    const json = fc.oneof({ weight: 2, arbitrary: real }, { weight: 5, arbitrary: other });
    const tally = new Map<Outcome, number>();
    fc.assert(
      fc.property(json, json, (info, file) => {
        const raw = {
          version: 1,
          name: 'fuzz',
          origin: { natsGaps: { file: 'g.json', info: 'i.json' } },
        };
        const files = filesOf({ 'i.json': info, 'g.json': file });
        tallied(
          tally,
          outcomeOf(() => planScenario(raw, 'fuzz', files)),
        );
      }),
      RUNS,
    );
    expectBoth(tally);
  });
});

/** What JSON cannot hold, as something that it can. */
function plainValue(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
