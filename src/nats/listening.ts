/** Subscriptions that hand over messages raw: decoded headers would not be the same again. */
import { createInbox, type Msg, type NatsConnection, type NatsError } from 'nats';
import type { RawMessage } from './feed.js';

export interface Listening {
  readonly subject: string;
  close(): void;
}

/** What the client keeps of a message that it read; headers and payload lie in one piece. */
interface ClientMessage {
  readonly _msg: {
    readonly subject: Uint8Array;
    readonly reply?: Uint8Array;
    readonly hdr: number;
  };
  readonly _rdata: Uint8Array | undefined;
}

const NO_BYTES = new Uint8Array(0);

/**
 * Hands over every message of a subject of its own until it is closed.
 *
 * @param onError  what the server has against the subscription; not given: it is passed over
 */
export function listenOn(
  connection: NatsConnection,
  inboxPrefix: string | null,
  onMessage: (message: RawMessage) => void,
  onError: (error: NatsError) => void = () => undefined,
): Listening {
  const subject = createInbox(inboxPrefix ?? undefined);
  const subscription = connection.subscribe(subject, {
    callback: (error, message) => {
      if (error === null) onMessage(rawOf(message));
      else onError(error);
    },
  });
  return {
    subject,
    close: () => {
      if (!connection.isClosed()) subscription.unsubscribe();
    },
  };
}

function rawOf(message: Msg): RawMessage {
  const { _msg, _rdata } = message as unknown as ClientMessage;
  const body = _rdata ?? NO_BYTES;
  const headers = Math.max(0, _msg.hdr);
  return {
    subject: _msg.subject,
    reply: _msg.reply ?? NO_BYTES,
    headers: headers === 0 ? NO_BYTES : body.subarray(0, headers),
    payload: headers === 0 ? body : body.subarray(headers),
  };
}
