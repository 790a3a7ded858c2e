/** Mirrors of a real server in every situation that is told apart, and what is said of them. */
import { headers as newHeaders } from 'nats';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { NatsServer } from '../../src/nats/server.js';
import { Client, onServer, startServer } from '../nats/stage.js';
import { addMirror, gist, reached, verify } from './verify-stage.js';

onServer('verify: situations', () => {
  let server: NatsServer;
  let client: Client;

  beforeAll(async () => {
    server = await startServer();
    client = await Client.connect(server, { reconnectTimeWait: 50, maxReconnectAttempts: -1 });
  });
  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  async function addOrigin(
    name: string,
    count: number,
    config: Record<string, unknown> = {},
    subjects = 3,
  ): Promise<void> {
    await client.addStream(name, config);
    await client.publish(name, count, (seq) => `${name.toLowerCase()}.${seq % subjects}`);
  }

  const gistOf = async (stream: string, given = {}): Promise<object> =>
    gist((await verify(server, stream, given)).report);

  it('the shape of A3: gaps at the same places, identical', async () => {
    await addOrigin('A', 500);
    await client.deleteMessages('A', ...Array.from({ length: 10 }, (_, at) => 100 + at), 300);
    await addMirror(client, 'MA', 'A');
    const { report, token } = await verify(server, 'MA');
    expect({ ...gist(report), token }).toEqual({
      ...{ result: 'identical', backlog: 'caught up', token: null },
    });
    expect(report.coverage).toMatchObject({ from: 1, to: 500, compared: 489 });
    expect(report.load).toMatchObject({ msgs: 978 });
    expect(await client.consumersOf('A')).toBe(0);
    for (const depth of ['state', 'sample']) {
      expect(await gistOf('MA', { depth })).toEqual({
        ...{ result: 'no difference seen', backlog: 'caught up' },
      });
    }
  });

  it('A3 itself, made by a delete on the mirror: message 1 is missing', async () => {
    await addOrigin('B', 10);
    await client.deleteMessages('B', 4);
    await addMirror(client, 'MB', 'B');
    await client.deleteMessages('MB', 1);
    for (const depth of ['full', 'sample', 'state']) {
      expect(await gistOf('MB', { depth })).toEqual({
        ...{ result: 'different', backlog: 'caught up', missing: 1 },
      });
    }
    const { report } = await verify(server, 'MB');
    expect(report.examples).toEqual([{ seq: 1, kind: 'missing', parts: [] }]);
    expect(report.mirror.reported).toEqual({ lag: 0, error: null });
  });

  it('E5: the origin was made anew and is shorter, the mirror reports lag 0', async () => {
    await addOrigin('E', 20);
    await addMirror(client, 'ME', 'E');
    await client.ask('STREAM.DELETE.E');
    await addOrigin('E', 5);
    const shorter = { result: 'different', backlog: 'caught up', beyond: 15, changed: 5 };
    for (const depth of ['full', 'sample', 'state']) {
      expect(await gistOf('ME', { depth }), depth).toEqual(shorter);
    }
    const { report } = await verify(server, 'ME');
    expect(report.mirror.reported).toEqual({ lag: 0, error: null });
  });

  it('E5: grown past, both sides look alike', async () => {
    await addOrigin('F', 20);
    await addMirror(client, 'MF', 'F');
    await client.ask('STREAM.DELETE.F');
    await addOrigin('F', 25);
    // The mirror looks for its consumer again at once.
    await server.restart();
    await reached(client, 'MF', 25);
    const { state } = await client.ask('STREAM.INFO.MF');
    expect(state).toMatchObject({ messages: 25, first_seq: 1, last_seq: 25 });
    for (const depth of ['full', 'sample', 'state']) {
      expect(await gistOf('MF', { depth }), depth).toEqual({
        ...{ result: 'different', backlog: 'caught up', changed: 20 },
      });
    }
    const { report } = await verify(server, 'MF');
    expect(report.differences).toMatchObject([{ first: 1, last: 20, parts: { time: 20 } }]);
    expect(report.notes).toEqual(['MF holds a message older than F: made anew, or restored']);
  }, 60_000);

  it('the origin was emptied and the mirror kept', async () => {
    await addOrigin('G', 20);
    await addMirror(client, 'MG', 'G');
    await client.ask('STREAM.PURGE.G');
    expect(await gistOf('MG')).toEqual({ result: 'explained', backlog: 'caught up', kept: 20 });
  });

  it('a gap at the tail', async () => {
    await addOrigin('T', 20);
    await client.deleteMessages('T', 19, 20);
    await addMirror(client, 'MT', 'T', {}, 18);
    const { report } = await verify(server, 'MT', { depth: 'state' });
    expect(gist(report)).toEqual({ result: 'explained', backlog: 'tail gap', tailGap: 2 });
    expect(report.explained).toMatchObject([{ kind: 'tailGap', first: 19, last: 20 }]);
  });

  it('a sealed mirror, its origin went on', async () => {
    await addOrigin('S', 20);
    await addMirror(client, 'MS', 'S');
    const { config } = await client.ask('STREAM.INFO.MS');
    await client.ask('STREAM.UPDATE.MS', { ...(config as object), sealed: true });
    await client.publish('S', 30, () => 's.x');
    const { report } = await verify(server, 'MS');
    expect(gist(report)).toEqual({ result: 'behind', backlog: 'stopped: sealed' });
    expect(report.reason).toMatch(/^stopped: sealed, \d+ messages to come$/);
  });

  it('a filter: what it takes is identical', async () => {
    await addOrigin('L', 30);
    await addMirror(client, 'ML', 'L', { mirror: { filter_subject: 'l.1' } }, 28);
    const { report } = await verify(server, 'ML');
    expect(gist(report)).toMatchObject({ result: 'identical' });
    expect(report.coverage.compared).toBe(10);
    await client.deleteMessages('ML', 4);
    for (const depth of ['full', 'state']) {
      expect(await gistOf('ML', { depth })).toMatchObject({ result: 'different', missing: 1 });
    }
  });

  it('a transform: the subjects as they are rewritten', async () => {
    await addOrigin('X', 30);
    for (let seq = 31; seq <= 40; seq++) client.connection.publish(`x.wide.${seq % 2}`);
    await reached(client, 'X', 40);
    const subject_transforms = [
      { src: 'x.1', dest: 'one.x' },
      { src: 'x.wide.*', dest: 'narrow.{{wildcard(1)}}.x' },
    ];
    await addMirror(client, 'MX', 'X', { mirror: { subject_transforms } });
    const { report } = await verify(server, 'MX');
    expect(gist(report)).toEqual({ result: 'identical', backlog: 'caught up' });
    expect(report.coverage.compared).toBe(20);
  });

  it('a transform of the mirror itself, behind that of what it takes', async () => {
    await addOrigin('Z', 20);
    const [taken, stored] = [
      { src: 'z.>', dest: '$KV.z.>' },
      { src: '$KV.z.1', dest: 'one.z' },
    ];
    const mirror = { subject_transforms: [taken] };
    await addMirror(client, 'MZ', 'Z', { mirror, subject_transform: stored });
    for (const depth of ['full', 'state'] as const) {
      const result = depth === 'full' ? 'identical' : 'no difference seen';
      expect(await gistOf('MZ', { depth })).toEqual({ result, backlog: 'caught up' });
    }
  });

  it('a mirror that is a work queue: what was acknowledged there is not called missing', async () => {
    await addOrigin('Q', 20);
    await addMirror(client, 'MQ', 'Q', { retention: 'workqueue' });
    await client.deleteMessages('MQ', 1, 2);
    expect(await gistOf('MQ')).toMatchObject({ result: 'inconclusive', unknown: 2 });
  });

  it('limits of the mirror: messages, bytes, messages of a subject', async () => {
    await addOrigin('K', 40, {}, 4);
    await addMirror(client, 'MK1', 'K', { max_msgs: 10 });
    await addMirror(client, 'MK2', 'K', { max_bytes: 1_000 });
    await addMirror(client, 'MK3', 'K', { max_msgs_per_subject: 1 });
    expect(await gistOf('MK1')).toEqual({
      ...{ result: 'explained', backlog: 'caught up', trimmed: 30 },
    });
    expect(await gistOf('MK2')).toMatchObject({ result: 'explained', backlog: 'caught up' });
    for (const depth of ['full', 'state']) {
      expect(await gistOf('MK3', { depth })).toEqual({
        ...{ result: 'explained', backlog: 'caught up', trimmed: 36 },
      });
    }
    await client.deleteMessages('MK3', 39);
    expect(await gistOf('MK3')).toMatchObject({ result: 'different', trimmed: 36, missing: 1 });
    // Full no more, and dropped all the same: the last ten are what moved its first.
    await client.deleteMessages('K', 35, 36);
    await client.deleteMessages('MK1', 35, 36);
    expect(await gistOf('MK1')).toEqual({
      ...{ result: 'inconclusive', backlog: 'caught up', trimmed: 28, unknown: 2 },
    });
  });

  it('a bucket with a longer history', async () => {
    await client.addStream('KV_B', { subjects: ['$KV.B.>'], max_msgs_per_subject: 3 });
    await client.publish('KV_B', 7, (seq) => `$KV.B.${seq % 3}`);
    await addMirror(client, 'KV_C', 'KV_B', { max_msgs_per_subject: 1 });
    const { report } = await verify(server, 'KV_C');
    expect(gist(report)).toEqual({ result: 'explained', backlog: 'caught up', trimmed: 4 });
    expect(report.notes).toEqual(['KV_C keeps 1 of each key, KV_B 3: a shorter history']);
  });

  it('a short history of many keys: a sample finds more of them gone than it can read', async () => {
    await addOrigin('HS', 3_000, {}, 300);
    await addMirror(client, 'MHS', 'HS', { max_msgs_per_subject: 2 });
    expect(await gistOf('MHS', { depth: 'sample' })).toEqual({
      ...{ result: 'explained', backlog: 'caught up', trimmed: 2_400 },
    });
    await client.deleteMessages('MHS', 3_000);
    expect(await gistOf('MHS', { depth: 'sample' })).toMatchObject({
      ...{ result: 'different', missing: 1, trimmed: 2_400 },
    });
  });

  it('interrupted while something missing waits for a later message: it is not forgotten', async () => {
    await addOrigin('W', 20_000, {}, 20_000);
    await addMirror(client, 'MW', 'W', { max_msgs_per_subject: 1 });
    await client.deleteMessages('MW', 7);
    const abort = new AbortController();
    const progress = ({ next }: { readonly next: number }): void => {
      if (next > 7) abort.abort();
    };
    const { report, token } = await verify(server, 'MW', {
      tools: { signal: abort.signal, progress },
    });
    expect(report).toMatchObject({ result: 'inconclusive' });
    expect(token!.next).toBeLessThan(20_000);
    expect(await gistOf('MW', { resume: token })).toMatchObject({
      ...{ result: 'different', missing: 1 },
    });
  });

  it('a start: what lies before it is out of scope, also where it lies ahead', async () => {
    await addOrigin('O', 30);
    await addMirror(client, 'MO', 'O', { mirror: { opt_start_seq: 11 } });
    for (const depth of ['full', 'state']) {
      expect(await gistOf('MO', { depth }), depth).toEqual({
        ...{ result: 'explained', backlog: 'caught up', outOfScope: 10 },
      });
    }
    const ahead = new Date(Date.now() + 3_600_000).toISOString();
    await addMirror(client, 'MP', 'O', { mirror: { opt_start_time: ahead } });
    expect(await gistOf('MP')).toEqual({
      ...{ result: 'explained', backlog: 'caught up', outOfScope: 30 },
    });
  });

  it('age and time to live', async () => {
    await client.addStream('R', { allow_msg_ttl: true });
    const expiring = newHeaders();
    expiring.set('Nats-TTL', '1s');
    for (let seq = 1; seq <= 4; seq++) {
      const headers = seq % 2 === 0 ? { headers: expiring } : {};
      client.connection.publish('r.a', 'x', headers);
    }
    await client.connection.flush();
    await addMirror(client, 'MR1', 'R');
    await addMirror(client, 'MR2', 'R', { allow_msg_ttl: true });
    await addMirror(client, 'MR3', 'R', { max_age: 1_000_000_000 }, 4);
    await expect
      .poll(async () => (await client.ask('STREAM.INFO.MR3'))['state'], { timeout: 20_000 })
      .toMatchObject({ messages: 0 });
    await expect
      .poll(async () => (await client.ask('STREAM.INFO.R'))['state'], { timeout: 20_000 })
      .toMatchObject({ messages: 2 });
    expect(await gistOf('MR1')).toMatchObject({ result: 'explained', ttl: 2 });
    expect(await gistOf('MR2')).toMatchObject({ result: 'identical' });
    expect(await gistOf('MR3')).toMatchObject({ result: 'explained', expired: 2 });
  });

  it('conditions of publishing are no part of the mirror', async () => {
    await client.addStream('H');
    for (let seq = 1; seq <= 3; seq++) {
      const headers = newHeaders();
      headers.set('Nats-Expected-Last-Sequence', String(seq - 1));
      if (seq > 1) headers.set('Other', 'kept');
      client.connection.publish('h.a', 'x', { headers });
    }
    await client.connection.flush();
    await addMirror(client, 'MH', 'H');
    expect(await gistOf('MH')).toEqual({ result: 'identical', backlog: 'caught up' });
    expect(await gistOf('MH', { depth: 'state' })).toMatchObject({ result: 'no difference seen' });
  });

  it('a work queue and one that keeps by interest: read by requests, nothing is taken', async () => {
    for (const retention of ['workqueue', 'interest']) {
      const name = retention.toUpperCase();
      await client.addStream(name, { retention });
      await client.ask(`CONSUMER.CREATE.${name}.keeper`, {
        stream_name: name,
        config: { name: 'keeper', durable_name: 'keeper', ack_policy: 'explicit' },
      });
      await client.publish(name, 20, (seq) => `${retention}.${seq}`);
      await addMirror(client, `M${name}`, name);
      const before = await client.consumersOf(name);
      const { report } = await verify(server, `M${name}`);
      expect(gist(report), name).toEqual({ result: 'identical', backlog: 'caught up' });
      expect(await client.consumersOf(name)).toBe(before);
    }
  });
});
