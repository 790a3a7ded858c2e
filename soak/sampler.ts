/** Samples of what all threads of this process hold, taken again and again. */
import { readdirSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { BroadcastChannel } from 'node:worker_threads';
import { CHANNEL, heldHere, type Asked, type Held } from './probe.js';

/** A frozen thread answers late; then it is left out of the sample. */
const ANSWER_MS = 400;

/** What was measured, by name, in the order of the samples. */
export type Series = ReadonlyMap<string, readonly number[]>;

export class Sampler implements Disposable {
  readonly #channel = new BroadcastChannel(CHANNEL);
  readonly #series = new Map<string, number[]>();
  #asked = 0;
  #answers: Held[] = [];

  constructor() {
    this.#channel.onmessage = (message: unknown) => {
      const { data } = message as { readonly data: Asked };
      if ('answer' in data && data.answer === this.#asked) this.#answers.push(data.held);
    };
    this.#channel.unref();
  }

  get series(): Series {
    return this.#series;
  }

  /** @param threads  false: this thread and the process alone */
  async sample(threads: boolean): Promise<void> {
    this.#answers = [];
    if (threads) {
      this.#channel.postMessage({ ask: ++this.#asked });
      await setTimeout(ANSWER_MS);
    }
    for (const { thread, handles, ...bytes } of [heldHere(), ...this.#answers]) {
      for (const [kind, size] of Object.entries(bytes)) this.#add(`${thread} ${kind}`, size);
      for (const [kind, count] of Object.entries(handles)) this.#add(`${thread} ${kind}`, count);
    }
    this.#add('process resident', process.memoryUsage.rss());
    for (const [kind, count] of Object.entries(processHandles())) {
      this.#add(`process ${kind}`, count);
    }
  }

  [Symbol.dispose](): void {
    this.#channel.close();
  }

  #add(name: string, value: number): void {
    const values = this.#series.get(name);
    if (values === undefined) this.#series.set(name, [value]);
    else values.push(value);
  }
}

/** Threads and open descriptors, where the system says so. */
function processHandles(): Record<string, number> {
  if (process.platform !== 'linux') return {};
  return {
    threads: readdirSync('/proc/self/task').length,
    descriptors: readdirSync('/proc/self/fd').length,
  };
}
