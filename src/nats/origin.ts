/**
 * Opens a live origin: connects, reads the stream as it is, and refuses at once what cannot work:
 * no such stream, no JetStream, no permission, a stream that our reading would change.
 */
import { randomUUID } from 'node:crypto';
import { Events, type NatsConnection } from 'nats';
import { LockstepError, toErrorData } from '../base/errors.js';
import type { OriginTools } from '../origin/source.js';
import type { LiveOriginPlan } from '../scenario/types.js';
import {
  JetStreamApi,
  type ConsumerRequest,
  type CreatedConsumer,
  type StreamDescription,
} from './api.js';
import { openConnection } from './connection.js';
import type { RawMessage } from './feed.js';
import { findStream } from './find-stream.js';
import { forbidden } from './forbidden.js';
import { listenOn, type Listening } from './listening.js';
import { LiveOrigin, type StreamNow, type StreamServer } from './live-origin.js';
import { resolveSettings, type Settings } from './settings.js';

/** Errors: usage, one line, when the stream cannot be read as an origin. */
export async function openLiveOrigin(
  plan: LiveOriginPlan,
  tools: OriginTools,
): Promise<LiveOrigin> {
  const settings = resolveSettings(plan.connection, process.env);
  const connection = await openConnection(settings);
  try {
    const api = new JetStreamApi(connection, settings);
    const described = await inspect(api, plan.stream);
    const server = new NatsStream(connection, api, plan.stream, settings, tools.note);
    const name = `lockstep-${randomUUID().slice(0, 8)}`;
    await tryConsumer(server, name, described);
    const reachable = await api.lastReachable(plan.stream, described);
    for (const text of remarks(described)) tools.note(text);
    const { first, last, messages, deleted } = described;
    return new LiveOrigin(
      name,
      { state: { first, last, messages, deleted }, reachable },
      server,
      tools,
    );
  } catch (error) {
    await connection.close();
    const { message } = toErrorData(error);
    throw new LockstepError('usage', message);
  }
}

/** Errors: usage or what the server said. */
async function inspect(api: JetStreamApi, stream: string): Promise<StreamDescription> {
  const described = await findStream(api, stream, () => api.stream(stream));
  const { retention, messages } = described;
  if (retention === 'workqueue') {
    const why = 'its messages are taken by whoever reads them, and lockstep takes none';
    throw new LockstepError('usage', `stream ${stream} is a work queue: ${why}`);
  }
  if (retention === 'interest') {
    const why = 'a consumer of ours would change how long its messages are kept';
    throw new LockstepError('usage', `stream ${stream} has interest retention: ${why}`);
  }
  if (messages === 0) throw empty(stream);
  return described;
}

function empty(stream: string): LockstepError {
  return new LockstepError('usage', `stream ${stream} has no message: there is nothing to mirror`);
}

/** Whether consumers of ours may be made and deleted is known before anything depends on it. */
async function tryConsumer(
  server: NatsStream,
  name: string,
  { last }: StreamDescription,
): Promise<void> {
  const listening = server.listen(() => undefined);
  const request = {
    name: `${name}-0`,
    deliverSubject: listening.subject,
    startSeq: last + 1,
    heartbeatMs: 1_000,
    inactiveMs: 10_000,
  };
  try {
    await server.createConsumer(request);
    await server.deleteConsumer(request.name);
  } finally {
    listening.close();
  }
}

function remarks({ name, mirrors, isFiltered }: StreamDescription): string[] {
  if (mirrors === null) return [];
  const how = isFiltered ? `a filtered mirror of ${mirrors}` : `a mirror of ${mirrors}`;
  return [`${name} is itself ${how}: it is the origin here as it stands`];
}

/** One stream of a server, over one connection. */
class NatsStream implements StreamServer {
  readonly #connection: NatsConnection;
  readonly #api: JetStreamApi;
  readonly #stream: string;
  readonly #inboxPrefix: string | null;

  constructor(
    connection: NatsConnection,
    api: JetStreamApi,
    stream: string,
    { inboxPrefix }: Settings,
    note: (text: string) => void,
  ) {
    this.#connection = connection;
    this.#api = api;
    this.#stream = stream;
    this.#inboxPrefix = inboxPrefix;
    void this.#watch(note);
  }

  listen(onMessage: (message: RawMessage) => void): Listening {
    return listenOn(this.#connection, this.#inboxPrefix, onMessage);
  }

  createConsumer(request: ConsumerRequest): Promise<CreatedConsumer> {
    return this.#api.createConsumer(this.#stream, request);
  }

  deleteConsumer(name: string): Promise<void> {
    return this.#api.deleteConsumer(this.#stream, name);
  }

  async state(): Promise<StreamNow> {
    const { name, created, last } = await this.#api.stream(this.#stream);
    return { identity: { name, created }, last };
  }

  goOn(subject: string): void {
    if (!this.#connection.isClosed()) this.#connection.publish(subject);
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  /** Refusals that no request of ours waits for, such as that of a reply for flow control. */
  async #watch(note: (text: string) => void): Promise<void> {
    for await (const status of this.#connection.status()) {
      if (status.type !== Events.Error) continue;
      const { permissionContext } = status as {
        readonly permissionContext?: { readonly subject?: string; readonly operation?: string };
      };
      const { subject, operation } = permissionContext ?? {};
      if (subject === undefined) continue;
      note(forbidden(operation === 'subscription' ? 'subscribe' : 'publish', subject).message);
    }
  }
}
