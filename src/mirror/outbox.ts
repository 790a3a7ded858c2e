/** What a mirror has to say since it was last asked, in the order in which it happened. */
import type { MirrorEvent, OriginCommand } from './types.js';

export interface MirrorReady {
  readonly originCommands: OriginCommand[];
  readonly events: MirrorEvent[];
}

export class Outbox {
  #commands: OriginCommand[] = [];
  #events: MirrorEvent[] = [];

  get isEmpty(): boolean {
    return this.#commands.length === 0 && this.#events.length === 0;
  }

  command(command: OriginCommand): void {
    this.#commands.push(command);
  }

  event(event: MirrorEvent): void {
    this.#events.push(event);
  }

  drain(): MirrorReady {
    const ready = { originCommands: this.#commands, events: this.#events };
    this.#commands = [];
    this.#events = [];
    return ready;
  }
}
