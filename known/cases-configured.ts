/** Cases of mirrors that differ from their origins because they were told to: never different. */
import { setTimeout } from 'node:timers/promises';
import { everywhere, type Known, type KnownCase, type Series } from './types.js';

const STOPPED: Known = {
  state: '{1,20,20,0}',
  said: { result: 'behind', backlog: 'stopped: sealed' },
};

function since(version: string, known: Known): Record<Series, Known | string> {
  return { '2.9': `needs ${version}`, '2.14': known, '2.15': known };
}

const filtered: KnownCase = {
  id: 'filtered',
  title: 'every other subject taken',
  stream: 'FILTERM',
  known: everywhere({ state: '{1,19,10,9}', said: { result: 'identical' } }),
  async play({ session, rest }) {
    await session.create('FILTER');
    for (let pair = 0; pair < 10; pair++) {
      await session.fill('FILTER.wanted', 1);
      await session.fill('FILTER.other', 1);
    }
    await session.mirror('FILTERM', 'FILTER', {}, { filter_subject: 'FILTER.wanted' });
    await rest('FILTERM', '{1,19,10,9}');
  },
};

const limited: KnownCase = {
  id: 'limited',
  title: 'a mirror that keeps the last five messages',
  stream: 'LIMITM',
  known: everywhere({
    state: '{16,20,5,0}',
    said: { result: 'explained', found: ['trimmed 1..15'] },
  }),
  async play({ session, rest }) {
    await session.create('LIMIT');
    await session.fill('LIMIT.a', 20);
    await session.mirror('LIMITM', 'LIMIT', { max_msgs: 5 });
    await rest('LIMITM', '{16,20,5,0}');
  },
};

const history: KnownCase = {
  id: 'KV history',
  title: 'a bucket with a history of three, mirrored with a history of one',
  stream: 'KV_SHORT',
  known: everywhere({
    state: '{4,7,4,0}',
    said: { result: 'explained', found: ['trimmed 1..3'] },
  }),
  async play({ session, rest }) {
    await session.create('KV_LONG', { subjects: ['$KV.LONG.>'], max_msgs_per_subject: 3 });
    const keys = ['a', 'b', 'c', 'c', 'a', 'd', 'b'];
    for (const key of keys) await session.fill(`$KV.LONG.${key}`, 1);
    await session.mirror('KV_SHORT', 'KV_LONG', { max_msgs_per_subject: 1 });
    await rest('KV_SHORT', '{4,7,4,0}');
  },
};

const startSequence: KnownCase = {
  id: 'start sequence',
  title: 'a mirror that was told to begin at 11',
  stream: 'STARTM',
  known: everywhere({
    state: '{11,20,10,0}',
    said: { result: 'explained', found: ['outOfScope 1..10'] },
  }),
  async play({ session, rest }) {
    await session.create('START');
    await session.fill('START.a', 20);
    await session.mirror('STARTM', 'START', {}, { opt_start_seq: 11 });
    await rest('STARTM', '{11,20,10,0}');
  },
};

const timeToLive: KnownCase = {
  id: 'TTL',
  title: 'a message that lived for five seconds, kept by a mirror without such lives',
  stream: 'TTLM',
  known: since('2.11', {
    state: '{1,10,10,0}',
    said: { result: 'explained', found: ['ttl 5..5'] },
  }),
  async play({ session, rest }) {
    await session.create('TTL', { allow_msg_ttl: true });
    await session.mirror('TTLM', 'TTL');
    await session.fill('TTL.a', 4);
    // A mirror that finds its origin late would find the message gone.
    await rest('TTLM', '{1,4,4,0}');
    await session.publish([{ subject: 'TTL.a', headers: { 'Nats-TTL': '5s' } }]);
    await session.fill('TTL.a', 5);
    await rest('TTLM', '{1,10,10,0}');
    await rest('TTL', '{1,10,9,1}');
  },
};

const transformed: KnownCase = {
  id: 'transformed',
  title: 'subjects rewritten on the way',
  stream: 'TRANSFORMM',
  known: since('2.10', { state: '{1,20,20,0}', said: { result: 'identical' } }),
  async play({ session, rest }) {
    await session.create('TRANSFORM');
    await session.fill('TRANSFORM.a', 20);
    const subject_transforms = [{ src: 'TRANSFORM.>', dest: 'moved.>' }];
    await session.mirror('TRANSFORMM', 'TRANSFORM', {}, { subject_transforms });
    await rest('TRANSFORMM', '{1,20,20,0}');
  },
};

const sealed: KnownCase = {
  id: 'sealed',
  title: 'a mirror that was sealed while its origin grew',
  note: '2.9.10 stores in a sealed mirror what comes',
  stream: 'SEALEDM',
  known: {
    // It takes what comes all the same.
    '2.9': { state: '{1,25,25,0}', said: { result: 'identical' } },
    '2.14': STOPPED,
    '2.15': STOPPED,
  },
  async play({ session, series, rest }) {
    await session.create('SEALED');
    await session.fill('SEALED.a', 20);
    await session.mirror('SEALEDM', 'SEALED');
    await rest('SEALEDM', '{1,20,20,0}');
    await session.update('SEALEDM', { sealed: true });
    await session.fill('SEALED.a', 5);
    await setTimeout(1_000);
    await rest('SEALEDM', series === '2.9' ? '{1,25,25,0}' : '{1,20,20,0}');
  },
};

export const CONFIGURED_CASES: readonly KnownCase[] = [
  ...[filtered, limited, history, startSequence, timeToLive, transformed, sealed],
];
