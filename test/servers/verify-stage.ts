/** Streams on a real server, their mirrors, and what a verification says of them. */
import { expect, vi } from 'vitest';
import type { NatsServer } from '../../src/nats/server.js';
import { resolveSettings } from '../../src/nats/settings.js';
import type { ConnectionGiven } from '../../src/scenario/connection.js';
import type { VerifyReport } from '../../src/verify/result.js';
import {
  verifyMirror,
  type VerifyOutcome,
  type VerifyRequest,
  type VerifyTools,
} from '../../src/verify/verify.js';
import { hasher, type Client } from '../nats/stage.js';

type Given = Partial<VerifyRequest> & {
  readonly connection?: ConnectionGiven;
  readonly tools?: Partial<VerifyTools>;
};

export function verify(
  server: NatsServer,
  stream: string,
  { connection, tools, ...given }: Given = {},
): Promise<VerifyOutcome> {
  return verifyMirror(
    {
      ...{
        stream,
        origin: null,
        originSettings: null,
        sysSettings: null,
        depth: 'full',
        from: null,
        to: null,
      },
      ...{ bytesPerSecond: null, resume: null },
      settings: resolveSettings({ servers: [server.url], ...connection }, {}),
      ...given,
    },
    {
      ...{ hasher, seed: 1, clock: Date.now, signal: new AbortController().signal },
      progress: () => undefined,
      ...tools,
    },
  );
}

/** Result, backlog and counts by kind: what most cases are told apart by. */
export function gist({
  result,
  backlog,
  differences,
  explained,
  unknown,
}: VerifyReport): Record<string, unknown> {
  const counts = [...differences, ...explained, ...unknown].map(({ kind, count }) => [kind, count]);
  const byKind: Record<string, unknown> = Object.fromEntries(counts);
  return { result, backlog: backlog.status, ...byKind };
}

/** A mirror of a stream, once it has got as far as it can. */
export async function addMirror(
  client: Client,
  name: string,
  origin: string,
  config: Record<string, unknown> = {},
  upTo?: number,
): Promise<void> {
  const { mirror = {}, ...rest } = config as { mirror?: object };
  await client.addStream(name, {
    subjects: undefined,
    mirror: { name: origin, ...mirror },
    ...rest,
  });
  const last = upTo ?? (await client.lastOf(origin));
  await reached(client, name, last);
}

export async function reached(client: Client, stream: string, last: number): Promise<void> {
  await vi.waitFor(
    async () => {
      expect(await client.lastOf(stream)).toBe(last);
    },
    { timeout: 20_000, interval: 20 },
  );
}
