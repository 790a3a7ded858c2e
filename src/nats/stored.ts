/**
 * How far a stream came with all that one connection has published to it. What describes a stream
 * may overtake messages that are on their way; one that expects a sequence which no stream has is
 * never stored, and is refused in its turn, behind them. Upstream: stream.go,
 * processJetStreamMsgWithBatch; jetstream_batching.go, checkMsgHeadersPreClusteredProposal.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { headers, type NatsConnection } from 'nats';
import { SEQ_MAX } from '../base/limits.js';
import { API_ERROR, apiErrorOf, checked, failureOf, type JetStreamApi } from './api.js';
import { RETRY_MS } from './patience.js';

const NO_BYTES = new Uint8Array(0);
/** For what a leader has proposed to be stored; later it is taken for lost. */
const STORED_WITHIN_MS = 2_000;

export interface StoredAsked {
  readonly connection: NatsConnection;
  readonly api: JetStreamApi;
  readonly stream: string;
  /** One of the stream's own. */
  readonly subject: string;
  readonly timeoutMs: number;
}

/**
 * The last sequence that is stored, when everything sent before on this connection is stored or
 * refused. Errors: originRefused, timeout.
 */
export async function lastStored(asked: StoredAsked): Promise<number> {
  const sent = await refusedAt(asked);
  const until = performance.now() + STORED_WITHIN_MS;
  for (;;) {
    const { last } = await asked.api.stream(asked.stream);
    if (last >= sent || performance.now() > until) return last;
    await sleep(RETRY_MS);
  }
}

/** The last sequence that its leader had given away by then. */
async function refusedAt({ connection, subject, timeoutMs }: StoredAsked): Promise<number> {
  const impossible = headers();
  impossible.set('Nats-Expected-Last-Sequence', String(SEQ_MAX));
  const answer = await connection
    .request(subject, NO_BYTES, { headers: impossible, timeout: timeoutMs })
    .catch((error: unknown) => {
      throw failureOf(subject, error);
    });
  try {
    checked(subject, answer.json());
  } catch (error) {
    const text = error instanceof Error ? error.message : '';
    const last = /wrong last sequence: (\d+)/.exec(text)?.[1];
    if (apiErrorOf(error) === API_ERROR.wrongLastSequence && last !== undefined) {
      return Number(last);
    }
    throw error;
  }
  throw failureOf(subject, new Error('what expects an impossible sequence was stored'));
}
