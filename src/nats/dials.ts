/**
 * The sockets that a client dials, so that none outlives it. nats 2.29 gives up a dial that takes
 * too long and leaves its socket open, and so does a close in the middle of one: a process then
 * stays for as long as the other end does (nats-io/nats.js issue 64).
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/** Whose client it is that dials. */
const dialling = new AsyncLocalStorage<Dials>();

subscribe('net.client.socket', (message) => {
  dialling.getStore()?.opened((message as { readonly socket: Socket }).socket);
});

export class Dials {
  #open: Socket[] = [];
  readonly #end = new AbortController();

  /** For sockets that begin with TLS, which the channel does not tell of. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** Whatever is dialled by `work`, then and later, is kept account of. */
  run<T>(work: () => T): T {
    return dialling.run(this, work);
  }

  opened(socket: Socket): void {
    // One that is dialled after the end would have nobody to close it.
    if (this.signal.aborted) socket.destroy();
    else this.#open = [...this.#open.filter(({ destroyed }) => !destroyed), socket];
  }

  /** Closes what is open. */
  end(): void {
    this.#end.abort();
    for (const socket of this.#open) socket.destroy();
    this.#open = [];
  }
}
