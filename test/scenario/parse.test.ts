import { readFileSync } from 'node:fs';
import { FAULT_KINDS } from '../../src/scenario/schema.js';
import { describe, expect, it } from 'vitest';
import { parseScenario, scenarioSource } from '../../src/scenario/parse.js';
import type { Plan } from '../../src/scenario/types.js';
import { filesOf, NO_FILES, planOf, refused, refusedPlan, refusedText } from './stage.js';

const HEAD = 'version: 1\nname: a test\norigin: { synthetic: { messages: 2000, rate: 1000 } }\n';

const DEFAULTS: Plan = {
  name: 'a test',
  seed: 1,
  replicas: 3,
  election: 'both',
  skip: 'entries',
  timeScale: 0.05,
  origin: { kind: 'synthetic', messages: 2_000, size: 128, rate: 1_000, gaps: [] },
  faults: [],
  beyondQuorum: false,
  timeLimitMs: 600_000,
  expect: {
    stallAtMostMs: { threads: 2_000, sim: 2_000, nats: 60_000 },
    covered: [],
    mirror: 'running',
    state: null,
  },
};

describe('scenario: plan', () => {
  it('nothing but what must be there -> defaults', () => {
    expect(parseScenario(HEAD, 'chaos.yaml', NO_FILES)).toEqual(DEFAULTS);
  });

  it('every field', () => {
    const text = `
version: 1
name: everything
seed: 4_2
replicas: 5
election: timers
timeScale: upstream
origin:
  synthetic:
    messages: 1e5
    size: 1KiB
    rate: "40000"
    gaps: [{ after: 0, count: 7 }, { after: 40000, count: 25_000 }]
mirror: { skip: range }
faults:
  - { id: sd, stepDown: r2, to: r3, when: { skipped: 10000 }, within: 10s, on: [threads, sim] }
  - { kill: follower, when: { term: 3 } }
  - { freeze: leader, after: sd, delay: 300ms, for: 600ms }
  - { failPropose: leader, times: 4, code: writeFailed, when: { applied: 1e3 } }
  - { dropConsumer: origin, at: 1.5s }
  - { stepDown: leader, to: none, when: { role: candidate } }
beyondQuorum: true
timeLimit: 1m
expect: { stallAtMost: { threads: 3s, nats: 2m }, covered: [stepDown, kill], mirror: diverged, state: {
  first: 8, last: 125_008, messages: "1e5", deleted: 25001 } }
`;
    expect(parseScenario(text, 'chaos.yaml', NO_FILES)).toEqual({
      name: 'everything',
      seed: 42,
      replicas: 5,
      election: 'timers',
      skip: 'range',
      timeScale: 1,
      origin: {
        kind: 'synthetic',
        messages: 100_000,
        size: 1_024,
        rate: 40_000,
        gaps: [
          { after: 0, count: 7 },
          { after: 40_000, count: 25_000 },
        ],
      },
      faults: [
        {
          id: 'sd',
          action: { kind: 'stepDown', to: 'r3' },
          target: { kind: 'slot', slot: 'r2' },
          trigger: { kind: 'state', state: { kind: 'skipped', count: 10_000 }, withinMs: 10_000 },
          on: ['threads', 'sim'],
        },
        {
          id: 'faults[1]',
          action: { kind: 'kill' },
          target: { kind: 'follower', which: 'first' },
          trigger: { kind: 'state', state: { kind: 'term', term: 3 }, withinMs: 30_000 },
          on: null,
        },
        {
          id: 'faults[2]',
          action: { kind: 'freeze', forMs: 600 },
          target: { kind: 'leader' },
          trigger: { kind: 'after', fault: 'sd', delayMs: 300, settled: false },
          on: null,
        },
        {
          id: 'faults[3]',
          action: { kind: 'failPropose', dose: { times: 4 }, code: 'writeFailed' },
          target: { kind: 'leader' },
          trigger: { kind: 'state', state: { kind: 'applied', count: 1_000 }, withinMs: 30_000 },
          on: null,
        },
        {
          id: 'faults[4]',
          action: { kind: 'dropConsumer' },
          target: null,
          trigger: { kind: 'time', atMs: 1_500 },
          on: null,
        },
        {
          id: 'faults[5]',
          action: { kind: 'stepDown', to: null },
          target: { kind: 'leader' },
          trigger: { kind: 'state', state: { kind: 'role', role: 'candidate' }, withinMs: 30_000 },
          on: null,
        },
      ],
      beyondQuorum: true,
      timeLimitMs: 60_000,
      expect: {
        stallAtMostMs: { threads: 3_000, sim: 2_000, nats: 120_000 },
        covered: ['stepDown', 'kill'],
        mirror: 'diverged',
        state: { first: 8, last: 125_008, messages: 100_000, deleted: 25_001 },
      },
    });
  });

  it('defaults of faults; one limit of a stall is that of every driver', () => {
    const { faults, expect: expected } = planOf({
      faults: [
        { stepDown: 'leader', at: '0ms' },
        { freeze: 'leader', at: '0ms' },
        { failPropose: 'leader', after: 'faults[0]' },
        { dropConsumer: true, at: '2s' },
      ],
      expect: { stallAtMost: '7s' },
    });
    expect(faults.map(({ action, trigger }) => ({ action, trigger }))).toEqual([
      { action: { kind: 'stepDown', to: 'best' }, trigger: { kind: 'time', atMs: 0 } },
      { action: { kind: 'freeze', forMs: 500 }, trigger: { kind: 'time', atMs: 0 } },
      {
        action: { kind: 'failPropose', dose: { times: 1 }, code: 'overrun' },
        trigger: { kind: 'after', fault: 'faults[0]', delayMs: 0, settled: false },
      },
      { action: { kind: 'dropConsumer' }, trigger: { kind: 'time', atMs: 2_000 } },
    ]);
    expect(expected.stallAtMostMs).toEqual({ threads: 7_000, sim: 7_000, nats: 7_000 });
  });

  it('the main job is a scenario', () => {
    const path = new URL('../../scenarios/main-job.yaml', import.meta.url);
    const plan = parseScenario(readFileSync(path, 'utf8'), 'main-job.yaml', NO_FILES);
    expect(plan).toEqual({
      ...DEFAULTS,
      name: 'step-down in the middle of a skip',
      origin: {
        kind: 'synthetic',
        messages: 100_000,
        size: 128,
        rate: 40_000,
        gaps: [{ after: 40_000, count: 25_000 }],
      },
      faults: [
        {
          id: 'sd',
          action: { kind: 'stepDown', to: 'best' },
          target: { kind: 'leader' },
          trigger: { kind: 'state', state: { kind: 'skipped', count: 10_000 }, withinMs: 30_000 },
          on: ['threads', 'sim'],
        },
        {
          id: 'frozen',
          action: { kind: 'freeze', forMs: 600 },
          target: { kind: 'leader' },
          trigger: { kind: 'after', fault: 'sd', delayMs: 300, settled: false },
          on: null,
        },
        {
          id: 'faults[2]',
          action: { kind: 'kill' },
          target: { kind: 'leader' },
          trigger: { kind: 'after', fault: 'frozen', delayMs: 900, settled: false },
          on: null,
        },
        {
          id: 'faults[3]',
          action: { kind: 'stepDown', to: 'best' },
          target: { kind: 'leader' },
          trigger: { kind: 'time', atMs: 1_000 },
          on: ['nats'],
        },
        {
          id: 'stopped',
          action: { kind: 'freeze', forMs: 600 },
          target: { kind: 'leader' },
          trigger: { kind: 'time', atMs: 1_300 },
          on: ['nats'],
        },
        {
          id: 'faults[5]',
          action: { kind: 'kill' },
          target: { kind: 'leader' },
          trigger: { kind: 'after', fault: 'stopped', delayMs: 900, settled: false },
          on: null,
        },
      ],
      expect: {
        ...DEFAULTS.expect,
        covered: ['stepDown', 'freeze', 'kill'],
        state: { first: 1, last: 125_001, messages: 100_001, deleted: 25_000 },
      },
    });
  });
});

describe('scenario: text that cannot be read', () => {
  it.each([
    ['empty', '', 'chaos.yaml: nothing is not a mapping'],
    ['a word', 'hello', 'chaos.yaml: "hello" is not a mapping'],
    ['a list', '- 1', 'chaos.yaml: a list is not a mapping'],
    ['a number', '7', 'chaos.yaml: 7 is not a mapping'],
    [
      'no end',
      'a: 1\nb: [',
      'chaos.yaml:2: not YAML of a scenario: Flow sequence in block collection ' +
        'must be sufficiently indented and end with a ]',
    ],
    [
      'a key twice',
      `${HEAD}name: b`,
      'chaos.yaml:4: not YAML of a scenario: Map keys must be unique',
    ],
    [
      'two documents',
      `${HEAD}---\na: 1`,
      'chaos.yaml:4: not YAML of a scenario: a second document',
    ],
    [
      'aliases that multiply',
      'a: &a [1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nd: [*c,*c,*c,*c]',
      'chaos.yaml: not YAML of a scenario: ' +
        'Excessive alias count indicates a resource exhaustion attack',
    ],
    [
      'a list in itself',
      `${HEAD}faults: &a [*a]`,
      'chaos.yaml:4: faults[0]: a list is not a mapping',
    ],
  ])('%s', (_title, text, message) => {
    expect(refusedText(text)).toBe(message);
  });

  it('a file that is missing or closed', () => {
    expect(refused(() => scenarioSource('a.yaml', NO_FILES))).toBe(
      'scenario: a.yaml: no such file',
    );
    const closed = (): string => {
      throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
    };
    expect(refused(() => scenarioSource('a.yaml', closed))).toBe(
      'scenario: a.yaml: cannot be read (EACCES: permission denied)',
    );
    expect(scenarioSource('a.yaml', filesOf({ 'a.yaml': '{"version": 1}' })).raw).toEqual({
      version: 1,
    });
  });
});

describe('scenario: where it is wrong', () => {
  it.each([
    ['a field', 'seed: -1', '4: seed: -1 is not a whole number from 0 to 2^53-1'],
    [
      'a key that is not known',
      'faults:\n  - kill: leader\n    at: 1s\n    four: 2s',
      '7: faults[0]: "four" is not a known key; did you mean for?',
    ],
    [
      'a value deep inside',
      'faults:\n  - { stepDown: leader, at: 1s }\n  - freeze: leader\n    at: 1s\n    for: 2',
      '8: faults[1].for: 2 is not a duration with its unit, such as 250ms or 2s',
    ],
    [
      'a part that is missing: the innermost around it',
      'faults:\n  - { stepDown: leader, at: 1s }\n  - { freeze: leader }',
      '6: faults[1]: "no trigger" is not exactly one of at, when, after',
    ],
    [
      'behind an alias: where that was written',
      'faults:\n  - &one { id: a, stepDown: leader, at: 1s }\n  - *one',
      '5: faults[1].id: "a" is not used once only',
    ],
    [
      'a check of several parts',
      'faults:\n  - { kill: leader, at: 1s }\n  - { kill: leader, at: 1s }',
      '4: faults: "kill 2 of 3" is not within the 1 tolerated; beyondQuorum lifts that',
    ],
  ])('%s', (_title, text, message) => {
    expect(refusedText(HEAD + text)).toBe(`chaos.yaml:${message}`);
  });

  it('a file that an origin names: the line of the origin', () => {
    const text = 'version: 1\nname: x\norigin:\n  natsGaps: { file: a.json, info: b.json }\n';
    expect(refusedText(text)).toBe('chaos.yaml:4: origin.natsGaps: b.json: no such file');
  });
});

describe('scenario: values', () => {
  const origin = (synthetic: object): object => ({
    origin: { synthetic: { messages: 100, ...synthetic } },
  });
  it.each<[string, object, string]>([
    ['version', { version: 2 }, 'version: 2 is not 1'],
    ['no name', { name: '' }, 'name: "" is not text of at least one letter'],
    ['name of two lines', { name: 'a\nb' }, 'name: "a\\u{a}b" is not text in one line'],
    [
      'a key that begins so',
      { expect: { stall: '2s' } },
      'expect: "stall" is not a known key; did you mean stallAtMost?',
    ],
    [
      'a key mixed up',
      { expect: { state: { frist: 1 } } },
      'expect.state: "frist" is not a known key; did you mean first?',
    ],
    ['replicas 0', { replicas: 0 }, 'replicas: 0 is not one of 1, 3, 5, 7'],
    ['replicas 2', { replicas: '2' }, 'replicas: "2" is not one of 1, 3, 5, 7'],
    ['replicas as a word', { replicas: 'three' }, 'replicas: "three" is not one of 1, 3, 5, 7'],
    ['replicas as a list', { replicas: [3] }, 'replicas: a list is not a whole number'],
    [
      'election',
      { election: 'timer' },
      'election: "timer" is not one of conductor, timers, both; did you mean timers?',
    ],
    ['time scale', { timeScale: 'slow' }, 'timeScale: "slow" is not a number or upstream'],
    [
      'time scale zero',
      { timeScale: 0 },
      'timeScale: 0 is not upstream or a number from 0.001 to 10',
    ],
    [
      'time limit without a unit',
      { timeLimit: '10' },
      'timeLimit: "10" is not a duration with its unit, such as 250ms or 2s',
    ],
    ['time limit of nothing', { timeLimit: '0s' }, 'timeLimit: "0s" is not a duration above zero'],
    ['skip', { mirror: { skip: 'entry' } }, 'mirror.skip: "entry" is not one of entries, range'],
    ['a key at the root', { replics: 3 }, '"replics" is not a known key; did you mean replicas?'],
    ['a key that is far from all', { color: 3 }, '"color" is not a known key'],
    [
      'a key in a union',
      { expect: { stallAtMost: { thread: '2s' } } },
      'expect.stallAtMost: "thread" is not a known key; did you mean threads?',
    ],
    [
      'an end state with a part left out',
      { expect: { state: { first: 1, last: 5, messages: 5 } } },
      'expect.state.deleted: missing, expected a whole number',
    ],
    [
      'an end state that begins with nothing',
      { expect: { state: { first: 0, last: 5, messages: 5, deleted: 1 } } },
      'expect.state.first: 0 is not a whole number from 1 to 2^53-1',
    ],
    [
      'an end state that ends before it begins',
      { expect: { state: { first: 6, last: 5, messages: 1, deleted: 0 } } },
      'expect.state.last: 5 is not a whole number from 6 to 2^53-1',
    ],
    [
      'an end state that does not add up',
      { expect: { state: { first: 2, last: 16, messages: 6, deleted: 10 } } },
      'expect.state: "6 messages and 10 deleted" is not 15 in all, from 2 to 16',
    ],
    [
      'a stall without a unit',
      { expect: { stallAtMost: 2 } },
      'expect.stallAtMost: 2 is not a duration with its unit, such as 250ms or 2s or a mapping',
    ],
    [
      'a stall of one driver',
      { expect: { stallAtMost: { sim: '2' } } },
      'expect.stallAtMost.sim: "2" is not a duration with its unit, such as 250ms or 2s',
    ],
    [
      'covered',
      { expect: { covered: ['kil'] } },
      `expect.covered[0]: "kil" is not one of ${FAULT_KINDS.join(', ')}; did you mean kill?`,
    ],
    [
      'no origin',
      { origin: {} },
      'origin: "no origin" is not exactly one of synthetic, natsGaps, nats, module',
    ],
    [
      'origin misspelt: the slip, not what is missing',
      { origin: undefined, orgin: {} },
      '"orgin" is not a known key; did you mean origin?',
    ],
    [
      'two origins',
      { origin: { synthetic: { messages: 1 }, natsGaps: { file: 'a', info: 'b' } } },
      'origin: "synthetic and natsGaps" is not exactly one of synthetic, natsGaps, nats, module',
    ],
    [
      'no messages',
      origin({ messages: 0 }),
      'origin.synthetic.messages: 0 is not a whole number from 1 to 1000000000',
    ],
    [
      'half a message',
      origin({ messages: 1.5 }),
      'origin.synthetic.messages: 1.5 is not a whole number from 1 to 1000000000',
    ],
    [
      'messages that are no number',
      origin({ messages: Number.NaN }),
      'origin.synthetic.messages: NaN is not a whole number',
    ],
    [
      'size of a wrong unit',
      origin({ size: '1KB' }),
      'origin.synthetic.size: "1KB" is not a size in bytes, such as 128 or 64KiB',
    ],
    [
      'size too large',
      origin({ size: '2MiB' }),
      'origin.synthetic.size: "2MiB" is not at most 1MiB',
    ],
    [
      'more than memory holds',
      origin({ messages: 1e9 }),
      'origin: "1000000000 messages of 128B" is not within the 16GiB of memory that an origin may take',
    ],
    [
      'rate zero',
      origin({ rate: 0 }),
      'origin.synthetic.rate: 0 is not a whole number from 1 to 1000000000',
    ],
    [
      'gap beyond the stream',
      origin({ gaps: [{ after: 101, count: 1 }] }),
      'origin.synthetic.gaps[0].after: 101 is not within the stream of 100 messages',
    ],
    [
      'gaps at one place',
      origin({
        gaps: [
          { after: 5, count: 1 },
          { after: 5, count: 1 },
        ],
      }),
      'origin.synthetic.gaps[1].after: 5 is not above 5: gaps rise and do not overlap',
    ],
    [
      'gaps that fall',
      origin({
        gaps: [
          { after: 5, count: 1 },
          { after: 4, count: 1 },
        ],
      }),
      'origin.synthetic.gaps[1].after: 4 is not above 5: gaps rise and do not overlap',
    ],
    [
      'gap of nothing',
      origin({ gaps: [{ after: 5, count: 0 }] }),
      'origin.synthetic.gaps[0].count: 0 is not a whole number from 1 to 2^53-1',
    ],
    [
      'gaps that together reach the last sequence',
      origin({
        gaps: [
          { after: 5, count: 2 ** 52 },
          { after: 6, count: 2 ** 52 },
        ],
      }),
      `origin.synthetic.gaps[1].count: ${2 ** 52} is not a gap that ends below 2^53-1`,
    ],
    [
      'gap up to the last sequence',
      origin({ gaps: [{ after: 5, count: Number.MAX_SAFE_INTEGER - 100 }] }),
      `origin.synthetic.gaps[0].count: ${Number.MAX_SAFE_INTEGER - 100} is not a gap that ends below 2^53-1`,
    ],
  ])('%s', (_title, scenario, message) => {
    expect(refusedPlan(scenario)).toBe(`test: ${message}`);
  });

  it('a gap at the end of what there is leaves one sequence for the sentinel', () => {
    const count = Number.MAX_SAFE_INTEGER - 101;
    expect(planOf(origin({ gaps: [{ after: 100, count }] })).origin).toEqual({
      kind: 'synthetic',
      messages: 100,
      size: 128,
      rate: null,
      gaps: [{ after: 100, count }],
    });
  });
});

describe('scenario: slips that have one likely meaning', () => {
  it('a number in quotes, nesting without end, no file', () => {
    const quoted = refused(() => parseScenario('version: "1"\nname: x\norigin: {}', 'a', NO_FILES));
    expect(quoted).toBe('a:1: version: "1" is not the number 1: no quotes');
    const deep = refused(() => parseScenario('['.repeat(60_000), 'a', NO_FILES));
    expect(deep).toBe('a:1: not YAML of a scenario: nested too deeply');
    expect(refused(() => scenarioSource('', NO_FILES))).toBe('scenario: no file is named');
  });
});
