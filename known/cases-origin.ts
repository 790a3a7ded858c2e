/** Cases of an origin that is another one now, moves, or judged what it took. */
import { setTimeout } from 'node:timers/promises';
import type { Session } from './session.js';
import { everywhere, type KnownCase } from './types.js';

/** A mirror looks for a lost consumer every 10 s and gives it 10 s: after this it has another. */
const NOTICED_AFTER_MS = 25_000;
/** And says so long after at most that all is well. */
const WELL_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 200;

/** A mirror of 20 messages whose origin was deleted and made again with 5. */
async function recreate(session: Session, origin: string, mirror: string): Promise<void> {
  await session.ask(`STREAM.DELETE.${origin}`);
  await session.create(origin);
  await session.fill(`${origin}.again`, 5);
  await setTimeout(NOTICED_AFTER_MS);
  const lastLook = performance.now() + WELL_WITHIN_MS;
  for (;;) {
    const { lag, error } = await session.mirrorOf(mirror);
    if (lag === 0 && error === null) return;
    if (performance.now() > lastLook) throw new Error(`${mirror}: lag ${lag}, error ${error}`);
    await setTimeout(LOOK_EVERY_MS);
  }
}

const recreated: KnownCase = {
  id: 'E5',
  title: 'the origin made anew with fewer messages: lag 0, no error',
  stream: 'E5M',
  known: everywhere({ state: '{1,20,20,0}', said: { result: 'different' } }),
  async play({ session, rest }) {
    await session.create('E5');
    await session.fill('E5.a', 20);
    await session.mirror('E5M', 'E5', { num_replicas: 3 });
    await rest('E5M', '{1,20,20,0}');
    await recreate(session, 'E5', 'E5M');
    await rest('E5M', '{1,20,20,0}');
  },
};

const grownPast: KnownCase = {
  id: 'E5 grown past',
  title: 'the origin made anew, then grown past the old end: two lives in one mirror',
  stream: 'E5GM',
  known: everywhere({
    state: '{1,25,25,0}',
    said: { result: 'different', found: ['changed 1..20'] },
  }),
  async play({ session, rest }) {
    await session.create('E5G');
    await session.fill('E5G.a', 20);
    await session.mirror('E5GM', 'E5G', { num_replicas: 3 });
    await rest('E5GM', '{1,20,20,0}');
    await recreate(session, 'E5G', 'E5GM');
    await session.fill('E5G.again', 20);
    await rest('E5GM', '{1,25,25,0}');
  },
};

const moved: KnownCase = {
  id: 'E3',
  title: "the origin's leader moves, and the mirror's consumer with it is gone",
  stream: 'E3M',
  known: everywhere({ state: '{1,200,200,0}', said: { result: 'identical' } }),
  async play({ session, rest }) {
    await session.create('E3', { num_replicas: 3 });
    await session.fill('E3.a', 100);
    await session.mirror('E3M', 'E3', { num_replicas: 3 });
    await rest('E3M', '{1,100,100,0}');
    await session.stepDown('E3');
    await session.fill('E3.a', 100);
    await rest('E3M', '{1,200,200,0}', 60_000);
  },
};

/** The same id twice, farther apart than the origin remembers and nearer than the mirror would. */
const judgedAgain: KnownCase = {
  id: 'A10',
  title: 'an id that the origin took twice; the mirror started anew in between',
  note: '2.9.10 is right here: it does not look for ids on a mirror',
  stream: 'A10M',
  disturbs: true,
  known: everywhere({ state: '{1,4,4,0}', said: { result: 'identical' } }),
  async play({ cluster, session, rest }) {
    const publish = (id: string): Promise<void> =>
      session.publishAnew({ subject: 'A10.a', payload: id, headers: { 'Nats-Msg-Id': id } });
    await session.create('A10', { duplicate_window: 100_000_000 });
    await session.mirror('A10M', 'A10', { duplicate_window: 120_000_000_000 });
    for (const id of ['X', 'X', 'Y']) await publish(id);
    await rest('A10M', '{1,3,3,0}');
    await cluster.server(await session.leaderOf('A10M')).restart();
    await cluster.ready();
    await publish('X');
    await rest('A10M', '{1,4,4,0}', 60_000);
  },
};

const expectedAgain: KnownCase = {
  id: 'A10 expected stream',
  title: 'a message that its publisher wanted in the origin and nowhere else',
  note: '2.9.10 judges the header again on the mirror, whose name is another (#5865)',
  stream: 'A10EM',
  known: {
    '2.9': { state: '{1,1,1,0}', said: { result: 'different', found: ['changed 1..1'] } },
    '2.14': { state: '{1,2,2,0}', said: { result: 'identical' } },
    '2.15': { state: '{1,2,2,0}', said: { result: 'identical' } },
  },
  async play({ session, series, rest }) {
    await session.create('A10E');
    await session.mirror('A10EM', 'A10E');
    const headers = { 'Nats-Expected-Stream': 'A10E' };
    await session.publish([{ subject: 'A10E.a', payload: 'one', headers }]);
    await session.fill('A10E.a', 1);
    // Then the second one alone is there; a first one would come before long.
    if (series === '2.9') await rest('A10EM', '{1,1,1,0}');
    await rest('A10EM', '{1,2,2,0}', series === '2.9' ? 5_000 : undefined);
  },
};

export const ORIGIN_CASES: readonly KnownCase[] = [
  ...[recreated, grownPast, moved, judgedAgain, expectedAgain],
];
