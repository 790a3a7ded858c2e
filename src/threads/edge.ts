/**
 * The edge of a host where what it sends meets the faults of a link: cut, late, lost, doubled or
 * overtaken. What is calm passes at once. Its queue is bounded by the senders' windows, as the
 * port's own is.
 */
import type { Prng } from '../base/prng.js';
import type { DirectedLink } from '../scenario/links.js';
import { monotonicMs } from './clock.js';
import type { SharedConditions } from './conditions.js';

/** An overtaken message comes at most this much later, or twice the longest delay. */
const OVERTAKEN_MS = 5;
const MILLION = 1_000_000;

export class Edge {
  readonly #conditions: SharedConditions;
  readonly #link: DirectedLink;
  readonly #prng: Prng;
  /** In the order of sending; none is due before the one in front of it. */
  readonly #late: { readonly dueMs: number; readonly send: () => void }[] = [];
  readonly #overtaken = new Set<NodeJS.Timeout>();
  #timer: NodeJS.Timeout | null = null;

  constructor(conditions: SharedConditions, link: DirectedLink, prng: Prng) {
    this.#conditions = conditions;
    this.#link = link;
    this.#prng = prng;
  }

  /** Whether a message may be sent as it is: there is no fault, and none waits before it. */
  get isCalm(): boolean {
    return this.#late.length === 0 && this.#conditions.isCalm(this.#link);
  }

  /** Sends at once, later, twice or never. */
  pass(send: () => void): void {
    if (this.#conditions.isCut(this.#link)) return;
    const { lossPerMillion, duplicatePerMillion } = this.#conditions.trouble(this.#link);
    if (this.#prng.chance('loss', lossPerMillion, MILLION)) return;
    this.#carry(send);
    if (this.#prng.chance('duplicate', duplicatePerMillion, MILLION)) this.#carry(send);
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const timer of this.#overtaken) clearTimeout(timer);
    this.#overtaken.clear();
    this.#late.length = 0;
  }

  #carry(send: () => void): void {
    const { delayMinUs, delayMaxUs, reorderPerMillion } = this.#conditions.trouble(this.#link);
    const delayMs =
      this.#prng.between('delay', delayMinUs, Math.max(delayMinUs, delayMaxUs)) / 1_000;
    if (this.#prng.chance('reorder', reorderPerMillion, MILLION)) {
      const byMs = Math.max(OVERTAKEN_MS, (2 * delayMaxUs) / 1_000);
      this.#overtake(send, delayMs + this.#prng.between('overtaken', 1, Math.ceil(byMs)));
      return;
    }
    const dueMs = Math.max(monotonicMs() + delayMs, this.#late.at(-1)?.dueMs ?? 0);
    this.#late.push({ dueMs, send });
    this.#sendDue();
  }

  #overtake(send: () => void, byMs: number): void {
    const timer = setTimeout(() => {
      this.#overtaken.delete(timer);
      if (!this.#conditions.isCut(this.#link)) send();
    }, byMs);
    this.#overtaken.add(timer);
  }

  #sendDue(): void {
    const now = monotonicMs();
    let due = 0;
    while (due < this.#late.length && this.#late[due]!.dueMs <= now) due++;
    for (const { send } of this.#late.splice(0, due)) {
      if (!this.#conditions.isCut(this.#link)) send();
    }
    const next = this.#late[0];
    if (next === undefined || this.#timer !== null) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        this.#sendDue();
      },
      Math.max(1, next.dueMs - now),
    );
  }
}
