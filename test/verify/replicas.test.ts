/** Replicas of one stream against each other: what is said of every way in which they differ. */
import { describe, expect, it } from 'vitest';
import { formatReplicas } from '../../src/report/replica-formats.js';
import { renderReplicas } from '../../src/report/replicas.js';
import type { VerifyFormat } from '../../src/report/verify-formats.js';
import type { StoredMessage } from '../../src/stream/types.js';
import type { ReplicasReport } from '../../src/verify/replica-report.js';
import { SupersededCandidates } from '../../src/verify/replica-superseded.js';
import { compareReplicas, type ReplicasRequest } from '../../src/verify/replicas.js';
import type { VerifyProgress } from '../../src/verify/verify.js';
import { bytes, HeldReplicas, message, START } from './replica-stage.js';

function compare(
  replicas: HeldReplicas,
  request: Partial<ReplicasRequest> = {},
): Promise<ReplicasReport> {
  return compareReplicas(replicas, { from: null, to: null, ...request });
}

/** The findings alone. */
async function found(replicas: HeldReplicas, request?: Partial<ReplicasRequest>): Promise<object> {
  const report = await compare(replicas, request);
  const { result, reason, differences, behind, explained, unconfirmed } = report;
  const told = (each: ReplicasReport['differences'][number]): string => {
    const { kind, ranges, holding, lacking, unread } = each;
    const parties = [...holding, lacking, unread].map((servers) => servers.join('+'));
    return `${kind} ${ranges.map(({ first, last }) => `${first}-${last}`).join(',')} ${parties.join('|')}`;
  };
  return {
    ...{ result, reason, differences: differences.map(told), behind: behind.map(told) },
    explained: explained.map(({ kind, first, last, count }) => [kind, first, last, count]),
    unconfirmed: unconfirmed.map(({ first, last }) => `${first}-${last}`),
  };
}

const NOTHING = { reason: null, differences: [], behind: [], explained: [], unconfirmed: [] };

describe('replicas: what they hold', () => {
  it('the same, bit by bit -> identical, each read once and closed', async () => {
    const replicas = new HeldReplicas();
    expect(await compare(replicas)).toEqual({
      schema: 1,
      result: 'identical',
      reason: null,
      stream: {
        name: 'ORDERS',
        created: '2027-01-15T00:00:00Z',
        state: expect.objectContaining({ first_seq: 1, last_seq: 20 }),
      },
      up_to: 20,
      coverage: {
        ...{ depth: 'full', from: 1, to: 20, compared: 20 },
        claim: 'n1, n2 and n3 hold the same, bit by bit, from 1 to 20',
      },
      replicas: {
        n1: {
          leader: true,
          current: true,
          read: 'whole',
          messages: 20,
          bytes: 204_800,
          reason: null,
        },
        n2: {
          leader: false,
          current: true,
          read: 'whole',
          messages: 20,
          bytes: 204_800,
          reason: null,
        },
        n3: {
          leader: false,
          current: true,
          read: 'whole',
          messages: 20,
          bytes: 204_800,
          reason: null,
        },
      },
      ...{
        differences: [],
        against_origin: [],
        parts: {},
        explained: [],
        behind: [],
        unconfirmed: [],
      },
      load: { msgs: 60, bytes: 614_400, api_calls: 7 },
    });
    expect(replicas.opened).toEqual(['n1 n2 n3 1-20']);
    expect(replicas.closed).toEqual(['n1', 'n2', 'n3']);
  });

  it('a part of it', async () => {
    const replicas = new HeldReplicas();
    replicas.put('n2', 4, null);
    replicas.put('n2', 13, null);
    expect(await found(replicas, { from: 5, to: 12 })).toEqual({ ...NOTHING, result: 'identical' });
    expect(replicas.opened).toEqual(['n1 n2 n3 5-12']);
  });

  it.each([
    ['n1', 'n2+n3|n1'],
    ['n2', 'n1+n3|n2'],
    ['n3', 'n1+n2|n3'],
  ])('messages are absent on %s -> different, by name', async (server, parties) => {
    const replicas = new HeldReplicas();
    for (const seq of [5, 6, 7, 20]) replicas.put(server, seq, null);
    expect(await found(replicas)).toEqual({
      ...{ ...NOTHING, result: 'different' },
      differences: [`missing 5-7,20-20 ${parties}|`],
    });
  });

  it.each([
    ['time', { timestamp: START }],
    ['subject', { subject: bytes('orders.x') }],
    ['headers', { headers: bytes('NATS/1.0\r\nNats-Expected-Stream: A\r\n\r\n') }],
    ['payload', { payload: bytes('m8') }],
  ])('another %s on one -> different', async (part, given) => {
    const replicas = new HeldReplicas();
    replicas.put('n3', 9, given);
    expect(await compare(replicas)).toMatchObject({
      result: 'different',
      parts: { [part]: 1 },
      differences: [{ kind: 'changed', holding: [['n1', 'n2'], ['n3']], first: 9, last: 9 }],
    });
  });

  it('two agree against the first; none agrees; one of them has none', async () => {
    const replicas = new HeldReplicas();
    const other = { payload: bytes('other') };
    replicas.put('n2', 2, other);
    replicas.put('n3', 2, other);
    replicas.put('n2', 3, other);
    replicas.put('n3', 3, { payload: bytes('another') });
    replicas.put('n1', 4, null);
    replicas.put('n2', 4, other);
    expect(await found(replicas)).toEqual({
      ...{ ...NOTHING, result: 'different' },
      differences: ['changed 2-2 n1|n2+n3||', 'changed 3-3 n1|n2|n3||', 'changed 4-4 n2|n3|n1|'],
    });
  });

  it('below the first of the leader, a follower holds a message -> different', async () => {
    const replicas = new HeldReplicas();
    replicas.firstSeq = 3;
    for (const server of ['n1', 'n2']) for (const seq of [1, 2]) replicas.put(server, seq, null);
    replicas.put('n3', 1, null);
    expect(await found(replicas)).toMatchObject({ differences: ['missing 2-2 n3|n1+n2|'] });
  });

  it('an empty stream -> identical, and nothing is claimed', async () => {
    const replicas = new HeldReplicas();
    replicas.lastSeq = 0;
    expect(await compare(replicas)).toMatchObject({
      result: 'identical',
      coverage: { from: 1, to: 0, compared: 0, claim: 'there is nothing to compare' },
    });
  });

  it('what lies far apart is read again in pieces, what is near in one', async () => {
    const replicas = new HeldReplicas();
    replicas.lastSeq = 40_000;
    for (const server of replicas.replicas.keys()) replicas.put(server, 30_000, {});
    for (const seq of [10, 12, 30_000]) replicas.put('n2', seq, null);
    const round = ['n1 n2 n3 10-12', 'n1 n2 n3 30000-30000'];
    await compare(replicas);
    expect(replicas.opened).toEqual(['n1 n2 n3 1-40000', ...round, ...round, ...round]);
  });

  it('no sequence in between is judged when pieces are read again', async () => {
    const replicas = new HeldReplicas();
    for (const seq of [3, 9]) replicas.put('n2', seq, null);
    replicas.onOpen = (reading) => {
      if (reading === 1) replicas.put('n3', 6, null);
    };
    expect(await found(replicas)).toMatchObject({ differences: ['missing 3-3,9-9 n1+n3|n2|'] });
  });
});

const FULL_SUBJECTS = { discard: 'new', discard_new_per_subject: true };

describe('replicas: what explains a difference', () => {
  it('they agree when they are read again -> explained', async () => {
    const replicas = new HeldReplicas();
    replicas.put('n3', 20, null);
    replicas.put('n2', 3, null);
    replicas.onOpen = (reading) => {
      if (reading === 1) replicas.put('n3', 20, {});
      if (reading === 2) for (const server of ['n1', 'n3']) replicas.put(server, 3, null);
    };
    expect(await found(replicas)).toEqual({
      ...{ ...NOTHING, result: 'explained' },
      explained: [['settled', 3, 20, 2]],
    });
    expect(replicas.opened).toEqual(['n1 n2 n3 1-20', 'n1 n2 n3 3-20', 'n1 n2 n3 3-3']);
  });

  const ttl = (text: string): object => ({
    headers: bytes(`NATS/1.0\r\nNats-TTL: ${text}\r\n\r\n`),
  });
  const seconds = (count: number): number => count * 1_000_000_000;
  it.each([
    ['expired', 'max_age has passed', { max_age: seconds(990) }, {}],
    ['ttl', 'its time to live has passed', { allow_msg_ttl: true }, ttl('990s')],
    ['head', 'below the first under max_msgs', { max_msgs: 17 }, {}],
    ['head', 'below the first under max_bytes', { max_bytes: 174 }, {}],
    ['per subject', 'enough came later on the subject', { max_msgs_per_subject: 2 }, {}],
  ])('%s: %s', async (kind, _title, config, given) => {
    const replicas = new HeldReplicas();
    replicas.config = config;
    replicas.firstSeq = 4;
    replicas.later = 2;
    for (const server of replicas.replicas.keys()) replicas.put(server, 3, given);
    replicas.put('n2', 3, null);
    expect(await found(replicas, { from: 1 })).toEqual({
      ...{ ...NOTHING, result: 'explained' },
      explained: [[kind, 3, 3, 1]],
    });
  });

  it.each([
    ['max_age has not passed', { max_age: seconds(1_000) }, {}],
    ['its time to live has not passed', { allow_msg_ttl: true }, ttl('1000')],
    ['a time to live where none is allowed', {}, ttl('1s')],
    ['a time to live that never ends', { allow_msg_ttl: true }, ttl('never')],
    ['not below the first', { max_msgs: 17 }, {}],
    ['below the first, with room for a message', { max_msgs: 21, first: 4 }, {}],
    ['below the first, with room for its bytes', { max_bytes: 175, first: 4 }, {}],
    ['below the first, discarding what is new', { max_msgs: 17, discard: 'new', first: 4 }, {}],
    ['too few came later on the subject', { max_msgs_per_subject: 3 }, {}],
    ['a subject that takes nothing new', { ...FULL_SUBJECTS, max_msgs_per_subject: 2 }, {}],
  ])('no excuse: %s', async (_title, { first = 3, ...config }: Record<string, unknown>, given) => {
    const replicas = new HeldReplicas();
    replicas.config = config;
    replicas.firstSeq = first as number;
    replicas.later = 2;
    for (const server of replicas.replicas.keys()) replicas.put(server, 3, given);
    replicas.put('n2', 3, null);
    expect(await found(replicas, { from: 1 })).toEqual({
      ...{ ...NOTHING, result: 'different' },
      differences: ['missing 3-3 n1+n3|n2|'],
    });
  });

  it('no excuse for contents that differ', async () => {
    const replicas = new HeldReplicas();
    replicas.config = { max_age: 1, max_msgs_per_subject: 1 };
    replicas.later = 9;
    replicas.put('n2', 3, { payload: bytes('x') });
    expect(await found(replicas)).toMatchObject({ differences: ['changed 3-3 n1+n3|n2||'] });
    expect(replicas.askedFor).toEqual([]);
  });

  it('later messages are asked for on the subject, behind the sequence', async () => {
    const replicas = new HeldReplicas();
    replicas.config = { max_msgs_per_subject: 1 };
    replicas.later = 1;
    replicas.put('n2', 4, null);
    await compare(replicas);
    expect(replicas.askedFor).toEqual(['orders.1 behind 4']);
  });
});

describe('replicas: many that later ones on their subjects explain', () => {
  /** n2 lacks the first ones; the leader has all, so it knows how many came later. */
  function lacking(upTo: number): HeldReplicas {
    const replicas = new HeldReplicas();
    replicas.grow(2_000);
    replicas.config = { max_msgs_per_subject: 100 };
    replicas.laterFor = (subject, seq) =>
      [...replicas.replicas.get('n1')!.values()].filter(
        (held) => held.seq > seq && Buffer.from(held.subject).toString() === subject,
      ).length;
    for (let seq = 1; seq <= upTo; seq++) replicas.put('n2', seq, null);
    return replicas;
  }

  it('all of them: each subject is asked of once', async () => {
    const replicas = lacking(1_600);
    expect(await found(replicas, { from: 1 })).toEqual({
      ...{ ...NOTHING, result: 'explained' },
      explained: [['per subject', 1, 1_600, 1_600]],
    });
    expect(replicas.askedFor.sort()).toEqual([
      ...['orders.0 behind 1599', 'orders.1 behind 1600', 'orders.2 behind 1598'],
    ]);
  });

  it('not the last ones: where that begins is searched for', async () => {
    const replicas = lacking(1_800);
    expect(await found(replicas, { from: 1 })).toEqual({
      ...{ ...NOTHING, result: 'different' },
      differences: ['missing 1701-1800 n1+n3|n2|'],
      explained: [['per subject', 1, 1_700, 1_700]],
    });
    expect(replicas.askedFor.length).toBeLessThan(3 * 13 * 3);
  });

  it('more subjects than are asked of: nothing is known of the others', async () => {
    const candidates = new SupersededCandidates(2);
    const of = (seq: number): { seq: number; pattern: string } => ({ seq, pattern: 'a-a' });
    expect(['a', 'b', 'c', 'a'].map((subject, at) => candidates.add(subject, of(at)))).toEqual([
      ...[true, true, false, true],
    ]);
    const told: unknown[] = [];
    const laterOn = (subject: string): Promise<number> => Promise.resolve(subject === 'a' ? 5 : 4);
    await candidates.judge(laterOn, 5, ({ seq }, isSuperseded) => told.push([seq, isSuperseded]));
    expect(told.sort()).toEqual([
      [0, true],
      [1, false],
      [3, true],
    ]);
  });
});

describe('replicas: what is not known', () => {
  it('a follower that is not current lacks the end -> inconclusive, named', async () => {
    const replicas = new HeldReplicas();
    replicas.followers = [
      { name: 'n2', current: true },
      { name: 'n3', current: false, lag: 2 },
    ];
    for (const seq of [19, 20]) replicas.put('n3', seq, null);
    expect(await found(replicas)).toEqual({
      ...{ ...NOTHING, result: 'inconclusive', behind: ['missing 19-20 n1+n2|n3|'] },
      reason: 'n3 is not current, and what it lacks may still come',
    });
  });

  it('a follower that is not current holds another content -> different', async () => {
    const replicas = new HeldReplicas();
    replicas.followers = [{ name: 'n2', current: false }];
    replicas.put('n2', 5, { payload: bytes('x') });
    expect(await found(replicas)).toMatchObject({ result: 'different', behind: [] });
  });

  it('a follower is offline: the others are compared -> inconclusive, named', async () => {
    const replicas = new HeldReplicas();
    replicas.followers = [
      { name: 'n2', current: true },
      { name: 'n3', current: false, offline: true },
    ];
    expect(await compare(replicas)).toMatchObject({
      result: 'inconclusive',
      reason: 'n3 was not read (offline)',
      coverage: { claim: 'no difference that stands was seen from 1 to 20 among n1 and n2' },
      replicas: { n3: { current: false, read: 'none', messages: 0, reason: 'offline' } },
    });
    expect(replicas.opened).toEqual(['n1 n2 1-20']);
  });

  it('the leader names fewer replicas than there should be -> inconclusive', async () => {
    const replicas = new HeldReplicas();
    replicas.config = { num_replicas: 3 };
    replicas.followers = [{ name: 'n2', current: true }];
    expect(await compare(replicas)).toMatchObject({
      ...{ result: 'inconclusive', reason: 'the leader names 2 of 3 replicas' },
      coverage: { claim: 'no difference that stands was seen from 1 to 20 among n1 and n2' },
    });
  });

  it('all followers are offline -> inconclusive, nothing is claimed', async () => {
    const replicas = new HeldReplicas();
    replicas.followers = [{ name: 'n2', current: false, offline: true }];
    expect(await compare(replicas)).toMatchObject({
      result: 'inconclusive',
      up_to: 0,
      coverage: { to: 0, claim: 'nothing: fewer than two replicas were read to the end' },
    });
  });

  it.each(['n1', 'n2'])(
    '%s goes away in the middle: what it was not read for is not missing',
    async (server) => {
      const replicas = new HeldReplicas();
      replicas.failing.set(server, 10);
      expect(await compare(replicas)).toMatchObject({
        result: 'inconclusive',
        reason: `${server} was read in part (it went away)`,
        replicas: { [server]: { read: 'part', messages: 10 } },
        ...{ differences: [], unconfirmed: [] },
      });
    },
  );

  it('one goes away, and the others disagree behind that -> different', async () => {
    const replicas = new HeldReplicas();
    replicas.failing.set('n1', 10);
    replicas.put('n2', 15, null);
    expect(await found(replicas)).toEqual({
      ...{ ...NOTHING, result: 'different', differences: ['missing 15-15 n3|n2|n1'] },
      reason: 'n1 was read in part (it went away)',
    });
  });

  it('one lacks messages and cannot be read again -> neither different nor explained', async () => {
    const replicas = new HeldReplicas();
    for (const seq of [5, 12]) replicas.put('n3', seq, null);
    replicas.onOpen = (reading) => {
      if (reading > 0) replicas.failing.set('n3', 8);
    };
    expect(await found(replicas)).toMatchObject({
      ...{ result: 'different', differences: ['missing 5-5 n1+n2|n3|'] },
      ...{ explained: [], unconfirmed: ['12-12'] },
    });
    replicas.failing.clear();
    replicas.put('n3', 5, {});
    replicas.onOpen = (reading) => {
      if (replicas.opened.length > 0 && reading % 4 !== 0) replicas.failing.set('n3', 0);
    };
    expect(await found(replicas)).toEqual({
      ...{ ...NOTHING, result: 'inconclusive', unconfirmed: ['12-12'] },
      reason: 'what differed at 1 could not be judged again',
    });
  });

  it('the stream is made anew meanwhile -> inconclusive, whatever differed', async () => {
    const replicas = new HeldReplicas();
    replicas.put('n3', 5, null);
    replicas.onOpen = () => {
      replicas.created = '2027-01-16T00:00:00Z';
    };
    expect(await found(replicas)).toMatchObject({
      result: 'inconclusive',
      reason: 'ORDERS was made anew while it was read',
    });
  });

  it('interrupted: what was found up to there, and no more is claimed than up to where it was compared', async () => {
    let asked = 0;
    const seen: number[][] = [];
    const replicas = new HeldReplicas();
    replicas.put('n2', 6, null);
    const request = {
      pause: () => ++asked > 2,
      progress: ({ next, differences }: VerifyProgress) => seen.push([next, differences]),
    };
    expect(await compare(replicas, request)).toMatchObject({
      ...{ result: 'different', reason: 'it was interrupted', up_to: 8 },
      coverage: {
        ...{ from: 1, to: 8, compared: 8 },
        claim: 'n1, n2 and n3 compared from 1 to 8, they differ; go on with --from 9',
      },
      replicas: { n1: { read: 'part' } },
    });
    expect(seen).toEqual([
      [1, 0],
      [5, 0],
      [9, 1],
    ]);
  });

  it.each([
    [3, undefined, 'n1, n2 and n3 compared from 1 to 8, no difference that stands was seen; go on'],
    [3, 'n3 offline', 'n1 and n2 compared from 1 to 8, no difference that stands was seen'],
    [3, 'n3 behind', 'n1, n2 and n3 compared from 1 to 8, no difference that stands was seen'],
    [1, undefined, 'nothing: it was interrupted before anything was compared'],
  ])('interrupted at pause %i, %s: %s', async (at, what, claim) => {
    let asked = 0;
    const replicas = new HeldReplicas();
    const isOffline = what === 'n3 offline';
    if (what !== undefined) {
      replicas.followers = [
        { name: 'n2', current: true },
        { name: 'n3', current: false, offline: isOffline },
      ];
    }
    if (what === 'n3 behind') replicas.put('n3', 6, null);
    const report = await compare(replicas, { pause: () => ++asked >= at });
    const said = claim.endsWith('; go on') ? `${claim} with --from 9` : claim;
    expect([report.result, report.coverage.claim]).toEqual(['inconclusive', said]);
  });
});

describe('replicas: of a mirror', () => {
  it('where they disagree the origin is asked who holds what it holds', async () => {
    const replicas = new HeldReplicas();
    replicas.put('n1', 3, null);
    replicas.put('n2', 5, { payload: bytes('x') });
    replicas.put('n3', 7, null);
    replicas.put('n3', 9, null);
    const origin = {
      at: (seq: number) => {
        if (seq === 7) return Promise.resolve(null);
        return Promise.resolve(message(seq, seq === 9 ? { payload: bytes('y') } : {}));
      },
      isAlike: (one: StoredMessage, other: StoredMessage) =>
        Buffer.compare(one.payload, other.payload) === 0,
    };
    const report = await compare(replicas, { origin });
    expect(report.against_origin).toEqual([
      ...[{ seq: 3, held_by_origin: true, like_origin: ['n2', 'n3'], unlike_origin: ['n1'] }],
      ...[{ seq: 5, held_by_origin: true, like_origin: ['n1', 'n3'], unlike_origin: ['n2'] }],
      ...[{ seq: 7, held_by_origin: false, like_origin: [], unlike_origin: [] }],
      ...[{ seq: 9, held_by_origin: true, like_origin: [], unlike_origin: ['n1', 'n2', 'n3'] }],
    ]);
    expect(renderReplicas(report).split('\n').slice(9, 13)).toEqual([
      'origin    3: the origin holds what n2 and n3 hold, and n1 not',
      '          5: the origin holds what n1 and n3 hold, and n2 not',
      '          7: the origin holds none that the mirror takes',
      '          9: the origin holds another one than each of them',
    ]);
  });
});

describe('replicas: refused', () => {
  it.each([
    ['a work queue', { retention: 'workqueue' }, /^ORDERS is a work queue, .* cannot be read$/],
    [
      'interest',
      { retention: 'interest' },
      /^ORDERS keeps messages by interest, .* cannot be read$/,
    ],
  ])('%s', async (_title, config, says) => {
    const replicas = new HeldReplicas();
    replicas.config = config;
    await expect(compare(replicas)).rejects.toMatchObject({
      ...{ code: 'usage', message: expect.stringMatching(says) },
    });
    expect(replicas.opened).toEqual([]);
  });

  it('a start above the last', async () => {
    await expect(compare(new HeldReplicas(), { from: 21 })).rejects.toMatchObject({
      ...{ code: 'usage', message: '--from: 21 lies above the last of ORDERS, 20' },
    });
  });

  it('one of three, as its leader tells: not refused, and not agreed', async () => {
    const replicas = new HeldReplicas();
    replicas.followers = [];
    replicas.config = { num_replicas: 3 };
    expect(await compare(replicas)).toMatchObject({
      ...{ result: 'inconclusive', reason: 'the leader names 1 of 3 replicas' },
      coverage: { to: 0 },
    });
  });

  it('one replica', async () => {
    const replicas = new HeldReplicas();
    replicas.followers = [];
    await expect(compare(replicas)).rejects.toMatchObject({
      ...{ code: 'usage' },
      message: 'ORDERS has one replica (on n1): there is nothing to compare it with',
    });
  });
});

describe('replicas: as text', () => {
  it('who holds what, where', async () => {
    const replicas = new HeldReplicas();
    replicas.config = { max_age: 5_000_000_000 };
    replicas.followers = [
      { name: 'n2', current: true },
      { name: 'n3', current: true },
      { name: 'n4', current: false, offline: true },
    ];
    for (const seq of [5, 7, 9, 11, 13, 15, 17]) replicas.put('n3', seq, null);
    replicas.config = { allow_msg_ttl: true };
    replicas.put('n1', 2, { headers: bytes('NATS/1.0\r\nNats-TTL: 1s\r\n\r\n') });
    replicas.put('n2', 2, null);
    replicas.put('n3', 2, null);
    replicas.put('n2', 18, { payload: bytes('x') });
    expect(renderReplicas(await compare(replicas))).toBe(
      [
        'different: ORDERS on n1, n2 and n3, up to 20: they disagree at 8 sequences: n4 was not read (offline)',
        '',
        'replica n1  leader       20 messages',
        'replica n2  current      19 messages',
        'replica n3  current      12 messages',
        'replica n4  not current     not read  offline',
        'read      full: n1, n2 and n3 were read from 1 to 20, and do not hold the same',
        'different 7 missing: 5, 7, 9, 11, 13 and 2 more ranges: n1 and n2 hold the same, n3 has none',
        '          1 changed: 18: n1 and n3 hold the same, n2 has another one',
        'explained 1 ttl: 2: their own time to live has passed (Nats-TTL)',
        'load      51 messages, 510 KiB, 7 requests',
        '',
      ].join('\n'),
    );
  });
});

describe('replicas: for machines', () => {
  async function formatted(format: VerifyFormat): Promise<string> {
    const replicas = new HeldReplicas();
    replicas.put('n3', 5, null);
    replicas.put('n3', 7, null);
    replicas.put('n2', 9, { payload: bytes('x') });
    const report = await compare(replicas);
    return formatReplicas({ result: report.result, mirror: null, replicas: report }, format, false);
  }

  it('JSON', async () => {
    expect(JSON.parse(await formatted('json'))).toMatchObject({
      ...{ schema: 1, result: 'different', up_to: 20, parts: { payload: 1 } },
      differences: [
        {
          ...{ kind: 'missing', holding: [['n1', 'n2']], lacking: ['n3'], unread: [] },
          ...{ first: 5, last: 7, count: 2 },
          ranges: [
            { first: 5, last: 5 },
            { first: 7, last: 7 },
          ],
        },
        { kind: 'changed', holding: [['n1', 'n3'], ['n2']], first: 9, last: 9, count: 1 },
      ],
    });
  });

  it('Nagios', async () => {
    expect(await formatted('nagios')).toBe(
      'CRITICAL different: ORDERS on n1, n2 and n3, up to 20: they disagree at 3 sequences' +
        '|differences=3 explained=0 behind=0 compared=20\n',
    );
  });

  it('Prometheus', async () => {
    expect(
      (await formatted('prometheus')).split('\n').filter((line) => !/^#|^$/.test(line)),
    ).toEqual(
      [
        'result{stream="ORDERS",result="different"} 1',
        'from{stream="ORDERS"} 1',
        'up_to{stream="ORDERS"} 20',
        'compared_sequences{stream="ORDERS"} 20',
        'messages{stream="ORDERS",server="n1"} 20',
        'messages{stream="ORDERS",server="n2"} 20',
        'messages{stream="ORDERS",server="n3"} 18',
        'sequences{stream="ORDERS",kind="different"} 3',
        'sequences{stream="ORDERS",kind="behind"} 0',
        'sequences{stream="ORDERS",kind="explained"} 0',
      ].map((line) => `lockstep_verify_replicas_${line}`),
    );
  });
});
