/** What a mirror has to say since it was last asked, in the order in which it happened. */
import { Pending } from '../base/pending.js';
import type { MirrorEvent, OriginCommand } from './types.js';

export interface MirrorReady {
  readonly originCommands: readonly OriginCommand[];
  readonly events: readonly MirrorEvent[];
}

export class Outbox {
  readonly #commands = new Pending<OriginCommand>();
  readonly #events = new Pending<MirrorEvent>();

  get isEmpty(): boolean {
    return this.#commands.isEmpty && this.#events.isEmpty;
  }

  command(command: OriginCommand): void {
    this.#commands.push(command);
  }

  event(event: MirrorEvent): void {
    this.#events.push(event);
  }

  drain(): MirrorReady {
    return { originCommands: this.#commands.drain(), events: this.#events.drain() };
  }
}
