/**
 * One connection to JetStream for whoever reads streams: requests, deliveries, and what the server
 * forbids without a request of ours waiting for it.
 */
import { Events, type NatsConnection } from 'nats';
import type { LockstepError } from '../base/errors.js';
import { JetStreamApi } from './api.js';
import { openConnection } from './connection.js';
import type { RawMessage } from './feed.js';
import { forbidden } from './forbidden.js';
import { listenOn, type Listening } from './listening.js';
import type { Settings } from './settings.js';

/** Where the server wants to hear that deliveries may go on. */
export const FLOW_SUBJECTS = '$JS.FC.>';

export class JetStreamAccess implements AsyncDisposable {
  readonly api: JetStreamApi;
  readonly settings: Settings;
  readonly #connection: NatsConnection;
  #disconnectedMs: number | null = null;
  readonly #refusals = new Set<(error: LockstepError) => void>();

  private constructor(connection: NatsConnection, settings: Settings) {
    this.#connection = connection;
    this.settings = settings;
    this.api = new JetStreamApi(connection, settings);
    void this.#watch();
  }

  /** Errors: usage, when there is no server or it refuses us. */
  static async open(settings: Settings): Promise<JetStreamAccess> {
    return new JetStreamAccess(await openConnection(settings), settings);
  }

  /** The API of another domain or account over the same connection; this one closes it. */
  through(apiPrefix: string): JetStreamAccess {
    return new JetStreamAccess(this.#connection, { ...this.settings, apiPrefix });
  }

  /** Name of the server at the other end. */
  get serverName(): string {
    return this.#connection.info?.server_name ?? '';
  }

  get serverVersion(): string {
    return this.#connection.info?.version ?? '';
  }

  /** Bytes of the largest message that the server takes. */
  get payloadMax(): number {
    return this.#connection.info?.max_payload ?? 1_048_576;
  }

  /** For how long nothing can come, in milliseconds; 0: the connection stands. */
  get disconnectedForMs(): number {
    return this.#disconnectedMs === null ? 0 : performance.now() - this.#disconnectedMs;
  }

  /** @param onRefused  the server lets nobody listen there */
  listen(
    onMessage: (message: RawMessage) => void,
    onRefused: (error: LockstepError) => void,
  ): Listening {
    const { inboxPrefix } = this.settings;
    const listening = listenOn(this.#connection, inboxPrefix, onMessage, () => {
      onRefused(forbidden('subscribe', `${inboxPrefix ?? '_INBOX'}.>`));
    });
    return listening;
  }

  /** Tells the server to go on. */
  goOn(subject: string): void {
    if (!this.#connection.isClosed()) this.#connection.publish(subject);
  }

  /** Told when a reply for flow control is refused, until it is taken back. */
  onRefusal(listener: (error: LockstepError) => void): () => void {
    this.#refusals.add(listener);
    return () => this.#refusals.delete(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close();
  }

  async #watch(): Promise<void> {
    for await (const status of this.#connection.status()) {
      if (status.type === Events.Disconnect) this.#disconnectedMs ??= performance.now();
      if (status.type === Events.Reconnect) this.#disconnectedMs = null;
      if (status.type !== Events.Error) continue;
      const { permissionContext } = status as { permissionContext?: { subject?: string } };
      if (permissionContext?.subject?.startsWith('$JS.FC.') !== true) continue;
      for (const listener of this.#refusals) listener(forbidden('publish', FLOW_SUBJECTS));
    }
  }
}
