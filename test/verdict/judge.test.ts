import { describe, expect, test } from 'vitest';
import type { SeqRange } from '../../src/stream/types.js';
import { copyDigest } from '../../src/verdict/copy.js';
import { judge, type Judgement, type JudgeTask } from '../../src/verdict/judge.js';
import type { CopyReader, LedgerReader, MessageCounts } from '../../src/verdict/types.js';
import { GAP, hasher, LAST, ledgerOf, message, originMessages, readerOf } from './stage.js';
import { storeOf, type Messages } from './stage.js';

type Judge = (task: JudgeTask) => Promise<Judgement>;

const origin = originMessages();
const ledger = ledgerOf(origin);
const faithful = readerOf(storeOf(origin, LAST));
const ALL_OK: MessageCounts = {
  ok: 2500,
  lost: 0,
  duplicated: 0,
  reordered: 0,
  corrupt: 0,
  phantom: 0,
  unknown: 0,
};

/** Three replicas; r2 is the odd one. */
function task(odd: CopyReader, more: Partial<JudgeTask> = {}): JudgeTask {
  const copies = [
    { slot: 'r1', reader: faithful },
    { slot: 'r2', reader: odd },
    { slot: 'r3', reader: faithful },
  ];
  return { ledger, copies, upTo: LAST, hasher, ...more };
}

/** A judge that compares nothing: every copy it sees is the faithful one. */
const blindJudge: Judge = (given) =>
  judge({
    ...given,
    copies: given.copies.map(({ slot }) => ({ slot, reader: faithful })),
  });

function edited(edit: (messages: Messages) => void, last = LAST): CopyReader {
  const messages = originMessages();
  edit(messages);
  return readerOf(storeOf(messages, last));
}

function changed(bytes: Uint8Array, at: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[at]! ^= 1;
  return copy;
}

type Told = readonly (readonly [kind: string, seq: number, text: string])[];

interface Fault {
  readonly name: string;
  readonly odd: CopyReader;
  readonly told: Told;
  readonly counts: Partial<MessageCounts>;
}

const at = 1700;
const sound = message(at);
const lostTail: Told = [
  ['state', 2598, 'ends at 2597; the mirror had to reach 2600'],
  ['lost', 2598, 'was never stored'],
  ['lost', 2599, 'was never stored'],
  ['lost', 2600, 'was never stored'],
];
/** Every message behind the gap moves up into it. */
const renumbered = (messages: Messages): void => {
  for (let seq = GAP.last + 1; seq <= LAST; seq++) {
    messages.set(seq - 100, messages.get(seq)!);
    messages.delete(seq);
  }
};

const FAULTS: readonly Fault[] = [
  {
    name: 'a byte of the payload changed',
    odd: edited((all) => all.set(at, { ...sound, payload: changed(sound.payload, 2) })),
    told: [['corrupt', at, 'differs in payload']],
    counts: { ok: 2499, corrupt: 1 },
  },
  {
    name: 'a header changed',
    odd: edited((all) => all.set(at, { ...sound, headers: changed(sound.headers, 12) })),
    told: [['corrupt', at, 'differs in headers']],
    counts: { ok: 2499, corrupt: 1 },
  },
  {
    name: 'the subject changed',
    odd: edited((all) => all.set(at, { ...sound, subject: changed(sound.subject, 7) })),
    told: [['corrupt', at, 'differs in subject']],
    counts: { ok: 2499, corrupt: 1 },
  },
  {
    name: 'the timestamp and the payload changed',
    odd: edited((all) => {
      all.set(at, { ...sound, timestamp: 3n, payload: changed(sound.payload, 0) });
    }),
    told: [['corrupt', at, 'differs in timestamp, payload']],
    counts: { ok: 2499, corrupt: 1 },
  },
  {
    name: 'a message skipped',
    odd: edited((all) => all.delete(at)),
    told: [['lost', at, 'the origin has a message here; it is a gap']],
    counts: { ok: 2499, lost: 1 },
  },
  {
    name: 'two messages swapped, blocks apart',
    odd: edited((all) => all.set(5, message(at)).set(at, message(5))),
    told: [
      ['reordered', 5, 'holds the message of 1700, which does not'],
      ['reordered', at, 'holds the message of 5, which does not'],
    ],
    counts: { ok: 2498, reordered: 2 },
  },
  {
    name: 'a message written over the next one',
    odd: edited((all) => all.set(at, message(at - 1))),
    told: [['duplicated', at, 'holds the message of 1699, which has it too']],
    counts: { ok: 2499, duplicated: 1 },
  },
  {
    name: 'a message added inside the gap',
    odd: edited((all) => all.set(1550, message(1550))),
    told: [['phantom', 1550, 'a message that was never handed out']],
    counts: { phantom: 1 },
  },
  {
    name: 'a message of elsewhere added inside the gap',
    odd: edited((all) => all.set(1550, message(at))),
    told: [['duplicated', 1550, 'holds the message of 1700, which has it too']],
    counts: { duplicated: 1 },
  },
  {
    name: 'a message moved away and copied once more',
    odd: edited((all) => {
      all.set(1550, message(at)).set(1551, message(at)).set(at, message(at, 'other'));
    }),
    told: [
      ['reordered', 1550, 'holds the message of 1700, which does not'],
      ['duplicated', 1551, 'holds the message of 1700, which has it too'],
      ['corrupt', at, 'differs in payload'],
    ],
    counts: { ok: 2499, reordered: 1, duplicated: 1, corrupt: 1 },
  },
  {
    name: 'a message added at the end',
    odd: edited((all) => all.set(LAST + 1, message(LAST + 1)), LAST + 1),
    told: [
      ['state', LAST + 1, 'ends at 2601; the origin ends at 2600'],
      ['phantom', LAST + 1, 'a message beyond the end of the origin, 2600'],
    ],
    counts: { phantom: 1 },
  },
  {
    name: 'the tail cut off',
    odd: edited((all) => {
      for (const seq of [2598, 2599, 2600]) all.delete(seq);
    }, 2597),
    told: lostTail,
    counts: { ok: 2497, lost: 3 },
  },
  {
    name: 'the gap removed, the rest renumbered',
    odd: edited(renumbered, LAST - 100),
    told: [
      ['state', 2501, 'ends at 2500; the mirror had to reach 2600'],
      ['reordered', 1501, 'holds the message of 1601, which does not'],
      ['reordered', 1502, 'holds the message of 1602, which does not'],
      ['reordered', 1503, 'holds the message of 1603, which does not'],
    ],
    counts: { ok: 1500, reordered: 1000, lost: 100 },
  },
];

async function toldOf(judging: Judge, fault: Fault): Promise<Pick<Judgement, 'differences'>> {
  const { differences } = await judging(task(fault.odd, { differencesMax: 4 }));
  return { differences };
}

function expected(fault: Fault): Pick<Judgement, 'differences'> {
  const differences = fault.told.map(([kind, seq, text]) => ({ kind, replica: 'r2', seq, text }));
  return { differences } as Pick<Judgement, 'differences'>;
}

describe('judge: one bad follower', () => {
  test.each(FAULTS)('$name -> told by kind, replica and sequence', async (fault) => {
    expect(await toldOf(judge, fault)).toEqual(expected(fault));
  });

  test.each(FAULTS)('$name -> counted', async (fault) => {
    const { counts, complete } = await judge(task(fault.odd));
    expect({ counts, complete }).toEqual({
      counts: { ...ALL_OK, ...fault.counts },
      complete: true,
    });
  });

  test('many misplaced -> looked up in several passes, counted the same', async () => {
    const odd = edited(renumbered, LAST - 100);
    expect(await judge(task(odd, { misplacedMax: 100 }))).toEqual(await judge(task(odd)));
  });

  test.each(FAULTS)('$name -> not told once the comparison is off', async (fault) => {
    expect(await toldOf(blindJudge, fault)).toEqual({ differences: [] });
    expect(fault.told).not.toEqual([]);
  });
});

describe('judge: equal copies', () => {
  test('all hold what was handed out -> no difference, one digest, no message read', async () => {
    const reads: SeqRange[] = [];
    const watched: CopyReader = {
      report: faithful.report,
      records: (range) => {
        reads.push(range);
        return faithful.records(range);
      },
    };
    const state = { first: 1, last: LAST, messages: 2500, deleted: 100 };
    const digest = copyDigest(await faithful.report(), hasher);
    expect(digest).toMatch(/^[0-9a-f]{16}$/);
    expect(await judge(task(watched))).toEqual({
      differences: [],
      counts: ALL_OK,
      replicas: ['r1', 'r2', 'r3'].map((id) => ({ id, ...state, digest })),
      complete: true,
    });
    expect(reads).toEqual([]);
  });

  test('other bytes or another gap -> another digest', async () => {
    const readers = [
      faithful,
      edited((all) => all.set(at, message(at, 'other'))),
      edited((all) => all.delete(at)),
    ];
    const digests = await Promise.all(
      readers.map(async (reader) => copyDigest(await reader.report(), hasher)),
    );
    expect(new Set(digests).size).toBe(3);
  });

  test('two messages of equal content swapped -> nothing differs', async () => {
    const twin = { ...message(9), seq: 10 };
    const withTwins = originMessages().set(10, twin);
    const reader = readerOf(storeOf(withTwins, LAST));
    const judgement = await judge({
      ledger: ledgerOf(withTwins),
      copies: [{ slot: 'r1', reader }],
      upTo: LAST,
      hasher,
    });
    expect(judgement.differences).toEqual([]);
    expect(judgement.counts).toEqual(ALL_OK);
  });

  test('same payload, other timestamp -> moved, not mistaken for its twin', async () => {
    const bodies = (all: Messages): Messages =>
      all.set(7, message(7, 'same')).set(21, message(21, 'same'));
    const ofTwins = ledgerOf(bodies(originMessages()));
    const odd = edited((all) => bodies(all).set(7, message(21, 'same')));
    const judgement = await judge({
      ledger: ofTwins,
      copies: [{ slot: 'r1', reader: odd }],
      upTo: LAST,
      hasher,
    });
    expect(judgement.differences).toEqual([
      {
        kind: 'duplicated',
        replica: 'r1',
        seq: 7,
        text: 'holds the message of 21, which has it too',
      },
    ]);
  });
});

describe('judge: two outcomes allowed', () => {
  const either = ledgerOf(origin, { passedOver: [GAP, { first: 1700, last: 1702 }] });
  const passedOver = edited((all) => {
    for (const seq of [1700, 1701, 1702]) all.delete(seq);
  });

  test('all replicas passed over what was also delivered -> held', async () => {
    const copies = ['r1', 'r2'].map((slot) => ({ slot, reader: passedOver }));
    const judgement = await judge({ ledger: either, copies, upTo: LAST, hasher });
    expect(judgement.differences).toEqual([]);
    expect(judgement.counts).toEqual({ ...ALL_OK, ok: 2497 });
  });

  test('one replica passed over, the others hold -> a state difference that names both', async () => {
    const judgement = await judge(task(passedOver, { ledger: either }));
    expect(judgement.differences).toEqual([
      {
        kind: 'state',
        replica: 'r2',
        seq: 1700,
        text: 'passed over 1700 to 1702, which r1 holds',
      },
    ]);
    expect(judgement.counts).toEqual({ ...ALL_OK, ok: 2497 });
  });

  test('two contents handed out at one sequence, each on a replica -> named', async () => {
    const second = originMessages().set(at, message(at, 'rewritten'));
    const rewritten = storeOf(second, LAST);
    const both: LedgerReader = {
      report: ledger.report,
      records: async (range) => {
        const made = [...(await ledger.records(range)), ...rewritten.partDigests(range)];
        return made.sort((one, other) => one.seq - other.seq);
      },
    };
    const judgement = await judge(task(readerOf(rewritten), { ledger: both }));
    expect(judgement.differences).toEqual([
      {
        kind: 'state',
        replica: 'r2',
        seq: at,
        text: 'holds another message than r1; both were handed out',
      },
    ]);
    expect(judgement.counts).toEqual(ALL_OK);
  });
});

describe('judge: what the ledger does not vouch for', () => {
  test('the message of the origin, but never delivered -> phantom', async () => {
    const delivered = [
      { first: 1, last: 1500 },
      { first: 1601, last: 1699 },
      { first: 1701, last: LAST },
    ];
    const passedOver = [GAP, { first: at, last: at }];
    const judgement = await judge({
      ledger: ledgerOf(origin, { delivered, passedOver }),
      copies: [{ slot: 'r1', reader: faithful }],
      upTo: LAST,
      hasher,
    });
    expect(judgement.differences).toEqual([
      { kind: 'phantom', replica: 'r1', seq: at, text: 'a message that was never handed out' },
    ]);
    expect(judgement.counts).toEqual({ ...ALL_OK, ok: 2499, phantom: 1 });
  });

  test('a gap that nobody passed over -> state, once for the range', async () => {
    const judgement = await judge(task(faithful, { ledger: ledgerOf(origin, { passedOver: [] }) }));
    expect(judgement.differences).toEqual(
      ['r1', 'r2', 'r3'].map((replica) => ({
        kind: 'state',
        replica,
        seq: 1501,
        text: 'passed over 1501 to 1600, which no opening did',
      })),
    );
  });

  test('a message of the origin that no opening delivered is missing -> lost', async () => {
    const delivered = [
      { first: 1, last: 1500 },
      { first: 1601, last: 1699 },
      { first: 1701, last: LAST },
    ];
    const without = edited((all) => all.delete(at));
    const judgement = await judge({
      ledger: ledgerOf(origin, { delivered }),
      copies: [{ slot: 'r1', reader: without }],
      upTo: LAST,
      hasher,
    });
    expect(judgement.differences).toEqual([
      {
        kind: 'lost',
        replica: 'r1',
        seq: at,
        text: 'the origin has a message here; it is a gap',
      },
    ]);
  });

  test('content that nobody kept -> unknown, not corrupt', async () => {
    const forgetful: LedgerReader = {
      report: ledger.report,
      records: async (range) => (await ledger.records(range)).filter(({ seq }) => seq !== at),
    };
    const odd = edited((all) => all.set(at, message(at, 'other')));
    const judgement = await judge(task(odd, { ledger: forgetful }));
    expect(judgement.differences).toEqual([]);
    expect(judgement.counts).toEqual({ ...ALL_OK, ok: 2499, unknown: 1 });
  });

  test('an origin that starts at 29,901 -> what lies before its first is owed by nobody', async () => {
    const late: Messages = new Map([[29_901, message(29_901)]]);
    const store = storeOf(late, 29_901);
    const judgement = await judge({
      ledger: {
        report: () =>
          Promise.resolve({
            origin: store.state(),
            sentinel: 29_901,
            tailGap: null,
            delivered: [{ first: 29_901, last: 29_901 }],
            passedOver: [],
            blocks: store.blockDigests(),
          }),
        records: (range) => Promise.resolve(store.partDigests(range)),
      },
      copies: [{ slot: 'r1', reader: readerOf(store) }],
      upTo: 29_901,
      hasher,
    });
    expect(judgement.differences).toEqual([]);
    expect(judgement.counts).toEqual({ ...ALL_OK, ok: 1 });
  });
});

describe('judge: a state that its own store does not bear out', () => {
  const lying = (state: object): CopyReader => ({
    report: async () => {
      const report = await faithful.report();
      return { ...report, state: { ...report.state, ...state } };
    },
    records: faithful.records,
  });

  test('messages and deleted miscounted -> state', async () => {
    const judgement = await judge(task(lying({ messages: 2499, deleted: 101 })));
    expect(judgement.differences).toEqual([
      {
        kind: 'state',
        replica: 'r2',
        seq: 1,
        text:
          'says 2499 messages and 101 deleted; ' +
          'first 1, last 2600 and its gaps make 2500 and 100',
      },
    ]);
  });

  test('first too high -> the messages before it are lost, and the count is wrong', async () => {
    const judgement = await judge(task(lying({ first: 3 })));
    expect(judgement.differences.map(({ kind, seq }) => [kind, seq])).toEqual([
      ['state', 3],
      ['lost', 1],
      ['lost', 2],
    ]);
  });

  test('an empty replica -> everything lost, the first told', async () => {
    const judgement = await judge(task(readerOf(storeOf(new Map(), 0)), { differencesMax: 2 }));
    expect(judgement.differences).toEqual([
      {
        kind: 'state',
        replica: 'r2',
        seq: 1,
        text: 'ends at 0; the mirror had to reach 2600',
      },
      { kind: 'lost', replica: 'r2', seq: 1, text: 'was never stored' },
    ]);
    expect(judgement.counts).toEqual({ ...ALL_OK, ok: 0, lost: 2500 });
  });
});

describe('judge: deadline', () => {
  const odd = edited((all) => all.set(at, message(at, 'other')));

  test('already over -> incomplete, what was not read is unknown', async () => {
    const judgement = await judge(task(odd, { deadline: () => true }));
    expect(judgement.complete).toBe(false);
    expect(judgement.differences).toEqual([]);
    // The block of 1700 holds 1025 … 2048, 100 of them the gap.
    expect(judgement.counts).toEqual({ ...ALL_OK, ok: 1576, unknown: 924 });
  });

  test('over before the content was looked up -> told with that said', async () => {
    let asked = 0;
    const judgement = await judge(task(odd, { deadline: () => ++asked > 1 }));
    expect(judgement.complete).toBe(false);
    expect(judgement.differences).toEqual([
      {
        kind: 'corrupt',
        replica: 'r2',
        seq: at,
        text: 'differs in payload; no time to look whether it belongs elsewhere',
      },
    ]);
  });
});

test('judge: no replica lives -> nothing is ok, nothing is said', async () => {
  expect(await judge({ ledger, copies: [], upTo: LAST, hasher })).toEqual({
    differences: [],
    counts: { ...ALL_OK, ok: 0 },
    replicas: [],
    complete: true,
  });
});
