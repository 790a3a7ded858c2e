/**
 * What stands between two servers of a cluster: a listener that one of them takes for the other,
 * and the connections that go through. TCP loses no byte, so a cut holds bytes back, as a network
 * does that comes back before either end gives up; or it ends connections with a reset, as a
 * firewall does that rejects.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Of bytes: from the server that connected, or to it. */
export type Way = 'there' | 'back';

export class RouteProxy implements AsyncDisposable {
  readonly #listener: Server;
  readonly #target: () => number | null;
  readonly #passages = new Set<Passage>();
  /** How many cuts hold each way, and how many reject: cuts that overlap end in turn. */
  readonly #held = { there: 0, back: 0 };
  #rejecting = 0;

  private constructor(target: () => number | null) {
    this.#target = target;
    this.#listener = createServer({ noDelay: true }, (socket) => {
      this.#accept(socket);
    });
  }

  /** @param target  port on loopback where the other server takes routes now; null: it is down */
  static async open(target: () => number | null): Promise<RouteProxy> {
    const proxy = new RouteProxy(target);
    proxy.#listener.listen(0, '127.0.0.1');
    await once(proxy.#listener, 'listening');
    return proxy;
  }

  get url(): string {
    return `nats://127.0.0.1:${(this.#listener.address() as AddressInfo).port}`;
  }

  /** Nothing goes these ways any more. Returns what ends that; a second call of it does nothing. */
  hold(ways: readonly Way[]): () => void {
    return this.#until((by) => {
      for (const way of ways) this.#held[way] += by;
      for (const passage of this.#passages) passage.flow(this.#held);
    });
  }

  /** Connections are reset, and new ones too. Returns what ends that. */
  reject(): () => void {
    return this.#until((by) => {
      this.#rejecting += by;
      if (by > 0) for (const passage of this.#passages) passage.reset();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#listener, 'close');
    this.#listener.close();
    for (const passage of this.#passages) passage.reset();
    await closed;
  }

  #until(change: (by: 1 | -1) => void): () => void {
    let isOver = false;
    change(1);
    return () => {
      if (isOver) return;
      isOver = true;
      change(-1);
    };
  }

  #accept(near: Socket): void {
    const port = this.#target();
    if (this.#rejecting > 0 || port === null) {
      near.on('error', () => undefined);
      near.resetAndDestroy();
      return;
    }
    const passage = new Passage(near, (ended) => this.#passages.delete(ended));
    this.#passages.add(passage);
    // A connection is made by packets that go both ways.
    if (this.#held.there === 0 && this.#held.back === 0) passage.connect(port);
    else passage.starve();
  }
}

/** One connection through a proxy. */
class Passage {
  readonly #near: Socket;
  readonly #onEnd: (ended: Passage) => void;
  /** Null: the connection was never made, since it came during a cut. */
  #far: Socket | null = null;
  #open = { there: true, back: true };

  constructor(near: Socket, onEnd: (ended: Passage) => void) {
    this.#near = near;
    this.#onEnd = onEnd;
    this.#follow(near);
  }

  connect(port: number): void {
    this.#far = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#follow(this.#far);
    this.#near.pipe(this.#far);
    this.#far.pipe(this.#near);
  }

  /** The other side is never reached; whoever connected finds out by itself. */
  starve(): void {
    this.#near.resume();
    this.#open = { there: false, back: false };
  }

  flow(held: Readonly<Record<Way, number>>): void {
    const open = { there: held.there === 0, back: held.back === 0 };
    if (this.#far === null) {
      // It would have been connected late; the server tries again at once if this one ends.
      if (open.there && open.back) this.reset();
      return;
    }
    const before = this.#open;
    this.#open = open;
    if (open.there !== before.there) turn(this.#near, this.#far, open.there);
    if (open.back !== before.back) turn(this.#far, this.#near, open.back);
    this.#endTogether();
  }

  reset(): void {
    abort(this.#near);
    if (this.#far !== null) abort(this.#far);
  }

  #follow(socket: Socket): void {
    // Why a connection broke is the servers' to find out; 'close' follows.
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.#endTogether();
    });
  }

  /** That a side is gone goes the way of the bytes: through a cut it is not seen. */
  #endTogether(): void {
    const far = this.#far;
    if (this.#near.destroyed && this.#open.there) far?.destroy();
    if (far?.destroyed === true && this.#open.back) this.#near.destroy();
    if (this.#near.destroyed && far?.destroyed !== false) this.#onEnd(this);
  }
}

/**
 * With a reset where one can still be sent. A socket that is half closed refuses it, and its handle
 * would stay open for good: the process could not end.
 */
function abort(socket: Socket): void {
  if (socket.readyState === 'open') socket.resetAndDestroy();
  else socket.destroy();
}

function turn(from: Socket, to: Socket, isOpen: boolean): void {
  if (isOpen) from.pipe(to);
  else from.unpipe(to);
}
