import { describe, expect, it } from 'vitest';
import { loadHasher } from '../../src/base/hasher.js';
import { OriginContent } from '../../src/origin/content.js';
import type { ReadFile } from '../../src/scenario/parse.js';
import type { RebuiltOriginPlan } from '../../src/scenario/types.js';
import { filesOf, FIXTURES, NO_FILES, planOf, refusedPlan } from './stage.js';

const hasher = await loadHasher();

function rebuiltFrom(name: string): RebuiltOriginPlan {
  const natsGaps = { file: `${name}.gaps.json`, info: `${name}.info.json` };
  const { origin } = planOf({ origin: { natsGaps } }, FIXTURES);
  return origin as RebuiltOriginPlan;
}

function contentOf(plan: RebuiltOriginPlan): OriginContent {
  return new OriginContent(plan, { seed: 1, hasher, allocate: (size) => new Uint8Array(size) });
}

describe('rebuild: real streams of a 2.15.2 server', () => {
  it('ORDERS: four gaps, one at the tail that the sentinel shows', () => {
    const plan = rebuiltFrom('ORDERS');
    expect(plan).toEqual({
      kind: 'nats-gaps',
      name: 'ORDERS',
      first: 1,
      last: 1_200,
      messages: 694,
      gaps: [
        { first: 17, last: 19 },
        { first: 201, last: 700 },
        { first: 1_000, last: 1_000 },
        { first: 1_199, last: 1_200 },
      ],
      size: 128,
      rate: null,
    });
    expect(contentOf(plan).state()).toEqual({ first: 1, last: 1_201, messages: 695, deleted: 506 });
  });

  it('TELEMETRY: nothing deleted, begins at 29,901', () => {
    const plan = rebuiltFrom('TELEMETRY');
    expect(plan).toEqual({
      kind: 'nats-gaps',
      name: 'TELEMETRY',
      first: 29_901,
      last: 30_000,
      messages: 100,
      gaps: [],
      size: 128,
      rate: null,
    });
    expect(contentOf(plan).state()).toEqual({
      first: 29_901,
      last: 30_001,
      messages: 101,
      deleted: 0,
    });
  });

  it('WIDE: two messages around a gap of 100,000', () => {
    const plan = rebuiltFrom('WIDE');
    expect(plan.gaps).toEqual([{ first: 2, last: 100_001 }]);
    expect(contentOf(plan).state()).toEqual({
      first: 1,
      last: 100_003,
      messages: 3,
      deleted: 100_000,
    });
  });

  it('KV_SESSIONS: 1,385 gaps', () => {
    const plan = rebuiltFrom('KV_SESSIONS');
    expect(plan.gaps).toHaveLength(1_385);
    expect([plan.gaps[0], plan.gaps[1]]).toEqual([
      { first: 500, last: 820 },
      { first: 822, last: 831 },
    ]);
    const content = contentOf(plan);
    expect(content.state()).toEqual({ first: 499, last: 20_001, messages: 1_991, deleted: 17_512 });
    expect(content.seqOf(content.numberOf(500))).toBe(821);
  });
});

interface Info {
  readonly config?: unknown;
  readonly state?: unknown;
}

const STATE = { messages: 6, first_seq: 5, last_seq: 14, num_deleted: 4 };
const INFO: Info = { config: { name: 'ORDERS' }, state: STATE };
const GAPS = '[[7,8],[12,13]]';

function files(info: unknown, gaps: string = GAPS): ReadFile {
  const text = typeof info === 'string' ? info : JSON.stringify(info);
  return filesOf({ 'i.json': text, 'g.json': gaps });
}

const NATS_GAPS = { natsGaps: { file: 'g.json', info: 'i.json' } };

function withState(state: object): Info {
  return { ...INFO, state: { ...STATE, ...state } };
}

describe('rebuild: what is accepted', () => {
  const gapsOf = (info: unknown, gaps: string): unknown =>
    (planOf({ origin: NATS_GAPS }, files(info, gaps)).origin as RebuiltOriginPlan).gaps;
  const none = withState({ messages: 10, num_deleted: undefined });

  it.each<[string, unknown, string, object[]]>([
    [
      'gaps out of order are sorted',
      INFO,
      '[[12,13],[7,8]]',
      [
        { first: 7, last: 8 },
        { first: 12, last: 13 },
      ],
    ],
    [
      'gaps that touch',
      INFO,
      '[[7,8],[9,10]]',
      [
        { first: 7, last: 8 },
        { first: 9, last: 10 },
      ],
    ],
    ['a gap at the tail', INFO, '[[11,14]]', [{ first: 11, last: 14 }]],
    ['an empty object and a sentence', none, '{}\nNo deleted messages in ORDERS\n', []],
    ['an empty list', none, '[]', []],
  ])('%s', (_title, info, gaps, ranges) => {
    expect(gapsOf(info, gaps)).toEqual(ranges);
  });

  it('size and rate', () => {
    const natsGaps = { ...NATS_GAPS.natsGaps, size: '1KiB', rate: 50 };
    const plan = planOf({ origin: { natsGaps } }, files(INFO)).origin as RebuiltOriginPlan;
    const { size, rate } = plan;
    expect({ size, rate }).toEqual({ size: 1_024, rate: 50 });
  });

  it('the last sequence that leaves room for a sentinel', () => {
    const last = Number.MAX_SAFE_INTEGER - 1;
    const info = withState({ messages: 2, first_seq: last - 1, last_seq: last, num_deleted: 0 });
    const plan = planOf({ origin: NATS_GAPS }, files(info, '{}')).origin as RebuiltOriginPlan;
    expect(contentOf(plan).state()).toEqual({
      first: last - 1,
      last: last + 1,
      messages: 3,
      deleted: 0,
    });
  });
});

describe('rebuild: what is refused', () => {
  const number = 'a whole number from 0 to 2^53-1';
  const infoKind = 'the output of nats stream info NAME --json';
  it.each<[string, unknown, string]>([
    ['not JSON', 'nats: error: stream not found', '"nats: error: stream not found" is not JSON'],
    ['not JSON, more than a line', 'a\nb', '"a\\u{a}b" is not JSON'],
    ['nothing', '', '"" is not JSON'],
    ['null', 'null', `nothing is not ${infoKind}`],
    ['a list: the gaps in its place', GAPS, `a list is not ${infoKind}`],
    ['another object', {}, `a mapping is not ${infoKind}`],
    ['no state', { config: { name: 'A' }, state: null }, `a mapping is not ${infoKind}`],
    ['no name', { config: {}, state: STATE }, `a mapping is not ${infoKind}`],
  ])('info: %s', (_title, info, message) => {
    expect(refusedPlan({ origin: NATS_GAPS }, files(info))).toBe(`test: i.json: ${message}`);
  });

  it.each<[string, Info, string]>([
    [
      'a name of two lines',
      { ...INFO, config: { name: 'A\nB' } },
      ': config.name: "A\\u{a}B" is not a name',
    ],
    [
      'first missing',
      withState({ first_seq: undefined }),
      `: state.first_seq: missing, expected ${number}`,
    ],
    [
      'last as text',
      withState({ last_seq: '1\n4' }),
      `: state.last_seq: "1\\u{a}4" is not ${number}`,
    ],
    ['messages negative', withState({ messages: -1 }), `: state.messages: -1 is not ${number}`],
    [
      'beyond 2^53-1',
      withState({ last_seq: 2 ** 53 }),
      `: state.last_seq: 9007199254740992 is not ${number}`,
    ],
    [
      'no room for a sentinel',
      withState({ last_seq: 2 ** 53 - 1 }),
      ': state.last_seq: 9007199254740991 is not below 2^53-1, where a sentinel follows',
    ],
    [
      'empty stream',
      withState({ messages: 0 }),
      ': state.messages: 0 is not a stream with messages',
    ],
    [
      'numbers that do not add up',
      withState({ messages: 7 }),
      ': "7 messages and 4 deleted" is not what 5 to 14 have room for',
    ],
    [
      'deleted absent although some are',
      withState({ num_deleted: undefined }),
      ': "6 messages and 0 deleted" is not what 5 to 14 have room for',
    ],
    [
      'never touched',
      withState({ messages: 1, num_deleted: 0, first_seq: 0, last_seq: 0 }),
      ': "1 messages and 0 deleted" is not what 0 to 0 have room for',
    ],
  ])('info: %s', (_title, info, message) => {
    expect(refusedPlan({ origin: NATS_GAPS }, files(info))).toBe(`test: i.json${message}`);
  });

  const pair = 'is not a pair [first, last] of sequences up to 2^53-1';
  it.each<[string, string, string]>([
    ['not JSON', 'No deleted messages', ': "No deleted messages" is not JSON'],
    [
      'the info in its place',
      JSON.stringify(INFO),
      ': a mapping is not the output of nats stream gaps NAME --json',
    ],
    ['no pair', '[[7,8],9]', `: [1]: 9 ${pair}`],
    ['three of them', '[[7,8,9]]', `: [0]: "[7,8,9]" ${pair}`],
    ['fractions', '[[7.5,8]]', `: [0]: "[7.5,8]" ${pair}`],
    ['zero', '[[0,8]]', `: [0]: "[0,8]" ${pair}`],
    ['backwards', '[[8,7]]', `: [0]: "[8,7]" ${pair}`],
    ['beyond 2^53-1', '[[7,9007199254740992]]', `: [0]: "[7,9007199254740992]" ${pair}`],
    ['lists in lists', '[[[7],8]]', `: [0]: a list ${pair}`],
    [
      'at the first sequence, which is a message',
      '[[5,6],[7,8]]',
      ': "[5, 6]" is not a gap within the stream, 5 to 14',
    ],
    ['behind the last', '[[7,8],[14,15]]', ': "[14, 15]" is not a gap within the stream, 5 to 14'],
    ['overlapping', '[[7,9],[9,9]]', ': "[9, 9]" is not a gap that overlaps no other'],
    [
      'too few',
      '[[7,8]]',
      ': "2 sequences in gaps" is not the 4 deleted sequences that i.json tells of',
    ],
    [
      'none although some are deleted',
      '{}',
      ': "0 sequences in gaps" is not the 4 deleted sequences that i.json tells of',
    ],
  ])('gaps: %s', (_title, gaps, message) => {
    expect(refusedPlan({ origin: NATS_GAPS }, files(INFO, gaps))).toBe(`test: g.json${message}`);
  });

  it('files that are missing', () => {
    expect(refusedPlan({ origin: NATS_GAPS }, NO_FILES)).toBe(
      'test: origin.natsGaps: i.json: no such file',
    );
    expect(refusedPlan({ origin: NATS_GAPS }, filesOf({ 'i.json': JSON.stringify(INFO) }))).toBe(
      'test: origin.natsGaps: g.json: no such file',
    );
  });
});
