/**
 * What waits for a member of a simulation; tells of each thing as it is handed out, before the
 * member has taken it in. Its bound is the senders' windows.
 */
import type { OriginFrame } from '../mirror/types.js';
import type { Message } from '../raft/types.js';
import type { Inbox } from '../replica/host.js';
import type { Input } from '../replica/types.js';
import type { NodeOutputs, SimNode } from './node.js';

export class Queues implements Inbox {
  readonly #node: SimNode;
  readonly #outputs: NodeOutputs;
  readonly orders: Input[] = [];
  readonly peers: Message[] = [];
  readonly frames: OriginFrame[] = [];

  constructor(node: SimNode, outputs: NodeOutputs) {
    this.#node = node;
    this.#outputs = outputs;
  }

  order(): Input | undefined {
    const order = this.orders.shift();
    if (order !== undefined) this.#outputs.ordered(this.#node, order, this.#node.replica!);
    return order;
  }

  peer(): Message | undefined {
    const message = this.peers.shift();
    if (message !== undefined) this.#outputs.reads(this.#node, message, this.#node.replica!);
    return message;
  }

  frame(): OriginFrame | undefined {
    const frame = this.frames.shift();
    if (frame !== undefined) this.#outputs.takesIn(this.#node, frame);
    return frame;
  }

  peersWait(): boolean {
    return this.peers.length > 0;
  }

  clear(): void {
    this.orders.length = 0;
    this.peers.length = 0;
    this.frames.length = 0;
  }
}
