/**
 * A cluster whose servers have just met places no stream yet: whoever leads has to hear from each
 * server what it has room for, and no page of a monitor tells whether it did. Upstream: server.go,
 * nodeInfo.selectable; events.go, sendStatsz, at first every 250 ms and in the end every 10 s.
 */
import { randomUUID } from 'node:crypto';
import type { NatsConnection } from 'nats';
import { LockstepError, toErrorData } from '../base/errors.js';
import { JetStreamAdmin } from './admin.js';
import { API_ERROR, apiErrorOf, isTransient } from './api.js';
import { openConnection } from './connection.js';
import { patiently } from './patience.js';
import { refuseIfEnded } from './server.js';
import type { Settings } from './settings.js';

const PLACED_WITHIN_MS = 20_000;

/**
 * Makes a stream where servers have just met. Asked for twice, the same stream is made once.
 *
 * Errors: those of the last request; interrupted.
 */
export function placed(make: () => Promise<void>, signal?: AbortSignal): Promise<void> {
  const ask = (): Promise<void> => {
    refuseIfEnded(signal);
    return make();
  };
  return patiently(ask, PLACED_WITHIN_MS, mayBePlacedYet);
}

/**
 * Waits until a stream of so many replicas finds its servers, by making one and deleting it.
 *
 * Errors: harness, with the last answer; interrupted.
 */
export async function untilPlaceable(
  settings: Settings,
  replicas: number,
  signal?: AbortSignal,
): Promise<void> {
  const name = `LOCKSTEP_${randomUUID()}`;
  const config = { name, subjects: [name], storage: 'memory', num_replicas: replicas };
  let connection: NatsConnection | null = null;
  try {
    connection = await openConnection(settings);
    const admin = new JetStreamAdmin(connection, settings);
    await placed(() => admin.createStream(config), signal);
    await patiently(() => admin.deleteStream(name));
  } catch (error) {
    const { code, message } = toErrorData(error);
    if (code === 'interrupted') throw error;
    const text = `no stream of ${replicas} replicas can be made after ${PLACED_WITHIN_MS} ms`;
    throw new LockstepError('harness', `${text}: ${message}`);
  } finally {
    await connection?.close();
  }
}

function mayBePlacedYet(error: unknown): boolean {
  return apiErrorOf(error) === API_ERROR.noSuitablePeers || isTransient(error);
}
