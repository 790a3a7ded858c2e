/** Cases of gaps: what a mirror skips, and what is lost when skips go wrong. */
import type { Session } from './session.js';
import { everywhere, type KnownCase } from './types.js';

const UNTRIED_HIGH = 'it skips one by one from 1: the API times out (#4249)';

/** Publishes and deletes: `count` sequences that the origin no longer has. */
async function gap(session: Session, stream: string, count: number): Promise<void> {
  await session.fill(`${stream}.filler`, count);
  await session.purge(stream, { filter: `${stream}.filler` });
}

const overtaken: KnownCase = {
  id: 'A3',
  title: 'a deleted message, then a mirror of three replicas',
  stream: 'A3M',
  known: {
    '2.9': { state: '{2,10,8,1}', said: { result: 'different', found: ['missing 1..1'] } },
    '2.14': { state: '{1,10,9,1}', said: { result: 'identical' } },
    '2.15': { state: '{1,10,9,1}', said: { result: 'identical' } },
  },
  async play({ session, series, rest }) {
    await session.create('A3');
    await session.fill('A3.a', 10);
    await session.delete('A3', 4);
    await session.mirror('A3M', 'A3', { num_replicas: 3 });
    await rest('A3M', series === '2.9' ? '{2,10,8,1}' : '{1,10,9,1}');
  },
};

const overtakenTwice: KnownCase = {
  id: 'A3 with two gaps',
  title: '500 messages, 100 to 109 and 300 deleted, then a mirror of three replicas',
  note: '2.9.10 mostly has {12,500,477,12}; what the second gap costs is a race',
  stream: 'A3WM',
  known: {
    '2.9': { state: null, said: { result: 'different' } },
    '2.14': { state: '{1,500,489,11}', said: { result: 'identical' } },
    '2.15': { state: '{1,500,489,11}', said: { result: 'identical' } },
  },
  async play({ session, series, rest }) {
    await session.create('A3W');
    await session.fill('A3W.a', 500);
    for (let seq = 100; seq <= 109; seq++) await session.delete('A3W', seq);
    await session.delete('A3W', 300);
    await session.mirror('A3WM', 'A3W', { num_replicas: 3 });
    await rest('A3WM', series === '2.9' ? '{12,500,477,12}' : '{1,500,489,11}');
  },
};

async function stepDownAgainAndAgain(session: Session, stream: string): Promise<void> {
  for (let time = 0; time < 8; time++) await session.stepDown(stream);
}

const steppedDown: KnownCase = {
  id: 'A1',
  title: 'a gap of 25,000; the leader steps down eight times while the mirror catches up',
  stream: 'A1M',
  known: {
    '2.9': 'its skips overtake messages (A3)',
    '2.14': { state: '{1,25006,6,25000}', said: { result: 'identical' } },
    '2.15': { state: '{1,25006,6,25000}', said: { result: 'identical' } },
  },
  play: async ({ session, rest }) => {
    await session.create('A1');
    await session.fill('A1.a', 5);
    await gap(session, 'A1', 25_000);
    await session.fill('A1.a', 1);
    await session.mirror('A1M', 'A1', { num_replicas: 3 });
    await stepDownAgainAndAgain(session, 'A1M');
    await rest('A1M', '{1,25006,6,25000}', 90_000);
  },
};

const steppedDownLonger: KnownCase = {
  id: 'A1 longer',
  title: 'the same with 30,000 messages behind the gap, and one that comes last',
  stream: 'A1LM',
  known: {
    '2.9': 'its skips overtake messages (A3)',
    '2.14': { state: '{1,55007,30007,25000}', said: { result: 'identical' } },
    '2.15': { state: '{1,55007,30007,25000}', said: { result: 'identical' } },
  },
  play: async ({ session, rest }) => {
    await session.create('A1L');
    await session.fill('A1L.a', 5);
    await gap(session, 'A1L', 25_000);
    await session.fill('A1L.a', 30_001);
    await session.mirror('A1LM', 'A1L', { num_replicas: 3 });
    await stepDownAgainAndAgain(session, 'A1LM');
    await session.fill('A1L.a', 1);
    await rest('A1LM', '{1,55007,30007,25000}', 90_000);
  },
};

const highFirst: KnownCase = {
  id: 'A5',
  title: 'an origin that begins at 1,000,000,000',
  stream: 'A5M',
  known: {
    '2.9': UNTRIED_HIGH,
    '2.14': { state: '{1000000000,1000000999,1000,0}', said: { result: 'identical' } },
    '2.15': { state: '{1000000000,1000000999,1000,0}', said: { result: 'identical' } },
  },
  async play({ session, rest }) {
    await session.create('A5');
    await session.purge('A5', { seq: 1_000_000_000 });
    await session.fill('A5.a', 1_000);
    await session.mirror('A5M', 'A5', { num_replicas: 3 });
    await rest('A5M', '{1000000000,1000000999,1000,0}');
  },
};

const tailGap: KnownCase = {
  id: 'tail gap',
  title: 'the last two messages deleted, then a mirror of one replica',
  stream: 'TAILM',
  known: everywhere({
    state: '{1,8,8,0}',
    said: { result: 'explained', backlog: 'tail gap', found: ['tailGap 9..10'] },
  }),
  async play({ session, rest }) {
    await session.create('TAIL');
    await session.fill('TAIL.a', 10);
    await session.delete('TAIL', 9, 10);
    await session.mirror('TAILM', 'TAIL');
    await rest('TAILM', '{1,8,8,0}');
  },
};

export const SKIP_CASES: readonly KnownCase[] = [
  ...[overtaken, overtakenTwice, steppedDown, steppedDownLonger, highFirst, tailGap],
];
