/**
 * What faults make of links and hosts: one Int32Array that all threads share, so that a fault takes
 * hold everywhere in the instant in which one thread writes it. Faults add to it and take away what
 * they added; two on one link add up. Nodes are members by position, then the origin.
 */
import type { DirectedLink } from '../scenario/links.js';
import type { LinkAction } from '../scenario/types.js';

/** What a link does now, beyond what it does anyway. Chances in a million. */
export interface Trouble {
  readonly delayMinUs: number;
  readonly delayMaxUs: number;
  readonly lossPerMillion: number;
  readonly duplicatePerMillion: number;
  readonly reorderPerMillion: number;
}

/** Words of a link. */
const CUTS = 0;
const TROUBLES = 1;
const DELAY_MIN_US = 2;
const DELAY_MAX_US = 3;
const LOSS = 4;
const DUPLICATE = 5;
const REORDER = 6;
const LINK_WORDS = 7;
/** Words of a member. */
const SLOW_US = 0;
const HURRY = 1;
const MEMBER_WORDS = 2;
/** Of 1,000: however many faults slow a clock down, it goes on. */
const HURRY_MIN = -950;

export class SharedConditions {
  readonly memory: SharedArrayBuffer;
  readonly #nodes: number;
  readonly #words: Int32Array;

  /** @param memory  of another thread's; a new one is made without */
  constructor(members: number, memory?: SharedArrayBuffer) {
    this.#nodes = members + 1;
    const words = this.#nodes * this.#nodes * LINK_WORDS + members * MEMBER_WORDS + 1;
    this.memory = memory ?? new SharedArrayBuffer(words * Int32Array.BYTES_PER_ELEMENT);
    this.#words = new Int32Array(this.memory);
  }

  /** @param by  1: a fault begins; -1: it is over */
  change(links: readonly DirectedLink[], action: LinkAction, by: 1 | -1): void {
    for (const link of links) {
      const at = this.#at(link);
      if (action.kind === 'partition') {
        Atomics.add(this.#words, at + CUTS, by);
        continue;
      }
      const { trouble } = action;
      Atomics.add(this.#words, at + TROUBLES, by);
      Atomics.add(this.#words, at + DELAY_MIN_US, by * Math.round(trouble.delayMinMs * 1_000));
      Atomics.add(this.#words, at + DELAY_MAX_US, by * Math.round(trouble.delayMaxMs * 1_000));
      Atomics.add(this.#words, at + LOSS, by * trouble.lossPerMillion);
      Atomics.add(this.#words, at + DUPLICATE, by * trouble.duplicatePerMillion);
      Atomics.add(this.#words, at + REORDER, by * trouble.reorderPerMillion);
    }
  }

  /** Whether no fault lies on the link. */
  isCalm(link: DirectedLink): boolean {
    const at = this.#at(link);
    return this.#words[at + CUTS] === 0 && this.#words[at + TROUBLES] === 0;
  }

  isCut(link: DirectedLink): boolean {
    return this.#words[this.#at(link) + CUTS]! > 0;
  }

  trouble(link: DirectedLink): Trouble {
    const at = this.#at(link);
    return {
      delayMinUs: this.#words[at + DELAY_MIN_US]!,
      delayMaxUs: this.#words[at + DELAY_MAX_US]!,
      lossPerMillion: this.#words[at + LOSS]!,
      duplicatePerMillion: this.#words[at + DUPLICATE]!,
      reorderPerMillion: this.#words[at + REORDER]!,
    };
  }

  /** Each turn of that member's host takes so much longer from here on; negative: shorter. */
  slow(member: number, byMs: number): void {
    Atomics.add(this.#words, this.#slowAt(member), Math.round(byMs * 1_000));
    Atomics.notify(this.#words, this.#slowAt(member));
  }

  slowUs(member: number): number {
    return Atomics.load(this.#words, this.#slowAt(member));
  }

  /** That member's clock runs so much faster from here on, of 1,000; negative: slower. */
  hurry(member: number, perMille: number): void {
    Atomics.add(this.#words, this.#memberAt(member) + HURRY, perMille);
  }

  hurriedBy(member: number): number {
    return Math.max(HURRY_MIN, this.#words[this.#memberAt(member) + HURRY]!);
  }

  /** Blocks the calling thread for what a turn of this member takes longer, while it does. */
  slowDown(member: number): void {
    const at = this.#slowAt(member);
    const us = this.slowUs(member);
    if (us > 0) Atomics.wait(this.#words, at, us, us / 1_000);
  }

  /** Blocks the calling thread for so long, timers and ports included, or until the run is over. */
  block(ms: number): void {
    Atomics.wait(this.#words, this.#words.length - 1, 0, ms);
  }

  /** The run is over: whoever is blocked goes on, and nobody is blocked again. */
  release(): void {
    const at = this.#words.length - 1;
    Atomics.store(this.#words, at, 1);
    Atomics.notify(this.#words, at);
    for (let slow = this.#slowAt(0); slow < at; slow += MEMBER_WORDS) {
      Atomics.store(this.#words, slow, 0);
      Atomics.notify(this.#words, slow);
    }
  }

  #at({ from, to }: DirectedLink): number {
    return (from * this.#nodes + to) * LINK_WORDS;
  }

  #slowAt(member: number): number {
    return this.#memberAt(member) + SLOW_US;
  }

  #memberAt(member: number): number {
    return this.#nodes * this.#nodes * LINK_WORDS + member * MEMBER_WORDS;
  }
}

/** By how much of 1,000 a clock runs faster. */
export function perMilleOf({ factor }: { readonly factor: number }): number {
  return Math.round((factor - 1) * 1_000);
}
