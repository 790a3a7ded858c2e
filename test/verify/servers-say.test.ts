/** What servers say of their own copies, as notes. */
import { expect, it } from 'vitest';
import type { ServerAnswer } from '../../src/nats/system-account.js';
import { saidIn } from '../../src/verify/servers-say.js';
import { facts, messages } from './stage.js';

const CREATED = '2026-01-01T00:00:00Z';
const sides = {
  origin: { ...facts(messages(1, 2, 3)), leader: 'n1' },
  mirror: facts(messages(1, 2, 3), { name: 'M' }),
};

function stream(name: string, held: number, more: object = {}): object {
  const state = { messages: held, first_seq: 1, last_seq: 3 };
  return { name, created: CREATED, state, ...more };
}

function server(name: string, streams: readonly object[], version = '2.15.2'): ServerAnswer {
  const account_details = [{ name: 'OTHER' }, { name: 'A', stream_detail: streams }];
  return { server: name, version, answer: { account_details } };
}

function read(...upTo: readonly number[]): object {
  const consumers = upTo.map((seq) => ({ name: 'JS_MIRROR_x', delivered: { stream_seq: seq } }));
  return { direct_consumer_detail: [{ name: 'JS_SOURCE_y' }, ...consumers] };
}

it.each<[string, ServerAnswer[], string[]]>([
  [
    'all alike',
    [server('n1', [stream('S', 3, read(3)), stream('M', 3)]), server('n2', [stream('M', 3)])],
    [
      'S by its servers: 1 to 3, 3 messages on n1',
      'M by its servers: 1 to 3, 3 messages on n1 and n2',
      'S was delivered to 1 mirror up to 3',
    ],
  ],
  [
    'copies that differ, two mirrors',
    [server('n1', [stream('S', 3, read(3, 2)), stream('M', 3)]), server('n2', [stream('M', 2)])],
    [
      'S by its servers: 1 to 3, 3 messages on n1',
      'M by its servers: 1 to 3, 3 messages on n1; 1 to 3, 2 messages on n2: they differed at ' +
        'that moment, --replicas tells',
      'S was delivered to 2 mirrors up to 2 and 3',
    ],
  ],
  [
    'no mirror reads; a stream of the same name is another one',
    [server('n1', [stream('S', 3), stream('M', 9, { created: '2026-02-02T00:00:00Z' })])],
    [
      'S by its servers: 1 to 3, 3 messages on n1',
      'M: no server that answers holds it',
      'S is delivered to no mirror at this moment',
    ],
  ],
  [
    'an old server does not tell who reads',
    [server('n1', [stream('S', 3), stream('M', 3)], '2.11.9')],
    ['S by its servers: 1 to 3, 3 messages on n1', 'M by its servers: 1 to 3, 3 messages on n1'],
  ],
  [
    'its leader does not answer: who reads is not known',
    [server('n2', [stream('S', 3), stream('M', 3)])],
    ['S by its servers: 1 to 3, 3 messages on n2', 'M by its servers: 1 to 3, 3 messages on n2'],
  ],
])('servers say: %s', (_, answers, lines) => {
  expect(saidIn(answers, sides)).toEqual(lines);
});
