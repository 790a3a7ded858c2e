/** The mirror of a bucket of objects: what differs is told by the objects' names. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ObjectStore } from 'nats';
import type { NatsServer } from '../../src/nats/server.js';
import { renderVerify } from '../../src/report/verify.js';
import type { VerifyReport } from '../../src/verify/result.js';
import { Client, onServer, startServer } from '../nats/stage.js';
import { addMirror, gist, verify } from './verify-stage.js';

onServer('verify: objects', () => {
  let server: NatsServer;
  let client: Client;

  beforeAll(async () => {
    server = await startServer();
    client = await Client.connect(server);
  });
  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  /** An object of chunks of ten bytes. */
  async function put(bucket: ObjectStore, name: string, chunks: number): Promise<string> {
    const bytes = new Uint8Array(10 * chunks).fill(chunks);
    const { nuid } = await bucket.putBlob({ name, options: { max_chunk_size: 10 } }, bytes);
    return nuid;
  }

  /** Two objects, one of which is put again once the mirror has it. */
  async function made(name: string): Promise<readonly string[]> {
    const bucket = await client.connection.jetstream().views.os(name);
    const nuids = [await put(bucket, 'a "b"\u00ad', 3), await put(bucket, 'c/d', 2)];
    await addMirror(client, `M_${name}`, `OBJ_${name}`);
    return [...nuids, await put(bucket, 'c/d', 1)];
  }

  function sections({ report }: { readonly report: VerifyReport }): string[] {
    const lines = renderVerify(report).split('\n');
    const at = lines.findIndex((line) => line.startsWith('objects'));
    const length = lines.slice(at + 1).findIndex((line) => !line.startsWith('  '));
    return at < 0 ? [] : lines.slice(at, at + 1 + length);
  }

  it('chunks and entries that are missing, and what the mirror keeps of an older life', async () => {
    const [first, second] = await made('FILES');
    // a: chunks 1 to 3, its entry 4; c/d: chunks 5 and 6, its entry 7; again: 8 and 9.
    await client.deleteMessages('M_FILES', 2, 4, 8);
    const verified = await verify(server, 'M_FILES');
    expect(gist(verified.report)).toMatchObject({ result: 'different', missing: 3, kept: 3 });
    const bucket = 'FILES';
    expect(verified.report.objects).toMatchObject([
      {
        ...{ kind: 'missing', bucket, name: 'a "b"\u00ad', nuid: first, count: 2 },
        ...{ first: 2, last: 4, entry: true, chunks: [2], of: 3 },
      },
      { ...{ kind: 'missing', name: 'c/d', count: 1 }, ...{ entry: false, chunks: [1], of: 1 } },
      {
        ...{ kind: 'kept', name: 'c/d', nuid: second, count: 3 },
        ...{ entry: true, chunks: [1, 2], of: 2 },
      },
    ]);
    expect(sections(verified)).toEqual([
      'objects   "a \\"b\\"\\xad" in FILES: 2 missing: its entry, chunk 2 of 3',
      '          "c/d" in FILES: 1 missing: chunk 1 of 1',
      '          "c/d" in FILES: 3 kept: its entry, chunks 1 and 2 of 2, all of it',
    ]);
  });

  it('an entry that is gone everywhere: its chunks have no name', async () => {
    const [first] = await made('NAMELESS');
    await client.deleteMessages('M_NAMELESS', 3, 4);
    await client.deleteMessages('OBJ_NAMELESS', 4);
    expect(sections(await verify(server, 'M_NAMELESS')).slice(0, 1)).toEqual([
      `objects   one that nothing names (${first!}) in NAMELESS: 1 missing: 1 chunk`,
    ]);
  });

  it('not an object store, or nothing that differs: nothing is told', async () => {
    await client.addStream('ORDERS');
    await client.publish('ORDERS', 3, () => 'orders.a');
    await addMirror(client, 'MIRROR', 'ORDERS');
    await client.deleteMessages('MIRROR', 2);
    const { report } = await verify(server, 'MIRROR');
    expect([report.objects, report.differences.length]).toEqual([[], 1]);
    await client.connection.jetstream().views.os('EMPTY');
    await addMirror(client, 'M_EMPTY', 'OBJ_EMPTY');
    expect((await verify(server, 'M_EMPTY')).report).toMatchObject({
      ...{ result: 'identical', objects: [] },
    });
  });
});
