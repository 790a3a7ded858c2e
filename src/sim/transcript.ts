/**
 * A run as a conversation, line by line: what arrived from whom, what was lost on its way, what
 * replicas did about it, and the faults in between. Signs of life are told when they say something
 * new. Events are counted, those of the event stream and no others, so that a number names one.
 */
import type { ClusterEvent } from '../scenario/driver.js';
import type { LinkFate } from './fates.js';
import { eventWords, isSignOfLife, wordsOf } from './speech.js';
import { faultId, type SwarmFault, type SwarmPlan } from './swarm.js';
import type { Crossing, Taps } from './taps.js';

export interface TranscriptLine {
  readonly atMs: number;
  /** Events before this line, of the event stream. */
  readonly event: number;
  readonly text: string;
  /** Ids of the fault or the fate that it tells of; null: of neither. */
  readonly id: string | null;
}

/** What names a fate: `r1 to r2 #17`. */
export function fateId({ link, nth }: LinkFate): string {
  return `${link} #${nth}`;
}

export class Transcript {
  readonly lines: TranscriptLine[] = [];
  readonly #faults: ReadonlyMap<string, string>;
  readonly #told = new Map<string, string>();
  #events = 0;

  constructor({ faults }: Pick<SwarmPlan, 'faults'>) {
    this.#faults = new Map(faults.map((fault, at) => [faultId(fault, at), actionWords(fault)]));
  }

  /** Events so far. */
  get events(): number {
    return this.#events;
  }

  readonly taps: Taps = {
    onCrossing: (crossing) => this.#crossing(crossing),
    onFate: (fate, atMs) => this.#fate(fate, atMs),
  };

  readonly onEvent = (event: ClusterEvent): void => {
    const text = clusterWords(event, this.#faults);
    const id = event.kind === 'fault' ? event.id : null;
    if (text !== null) this.#add(event.atMs, text, id);
    this.#events++;
  };

  #crossing(crossing: Crossing): void {
    const { atMs, from, to, became } = crossing;
    const words = wordsOf(crossing);
    if (isSignOfLife(crossing)) {
      const key = `${from} ${to} ${became}`;
      if (this.#told.get(key) === words) return;
      this.#told.set(key, words);
    }
    this.#add(atMs, `${from} -> ${to}  ${words}${became === 'delivered' ? '' : ` (${became})`}`);
  }

  #fate(fate: LinkFate, atMs: number): void {
    const by = fate.byUs === 0 ? '' : ` by ${fate.byUs / 1_000} ms`;
    this.#add(atMs, `message ${fateId(fate)} is ${fate.fate}${by}`, fateId(fate));
  }

  #add(atMs: number, text: string, id: string | null = null): void {
    this.lines.push({ atMs, event: this.#events, text, id });
  }
}

function clusterWords(event: ClusterEvent, faults: ReadonlyMap<string, string>): string | null {
  switch (event.kind) {
    case 'replica': {
      const words = eventWords(event.event);
      return words === null ? null : `${event.slot}  ${words}`;
    }
    case 'fault': {
      const whom = event.slot === null ? '' : ` at ${event.slot}`;
      const reason = event.reason === undefined ? '' : `, ${event.reason}`;
      return `fault ${event.id}, ${faults.get(event.id)!}${whom}: ${event.state}${reason}`;
    }
    case 'violation':
      return `violated: ${event.property}: ${event.slot ?? 'cluster'}: ${event.text}`;
    case 'exit':
      return `${event.slot}  ended: ${event.reason}`;
    case 'firstDelivery':
      return 'origin  first delivery';
    case 'handedOut':
      return 'origin  everything handed out';
    case 'late':
      return `${event.who}  late by ${event.byMs} ms`;
    case 'harness':
      return `lockstep failed: ${event.reason}`;
    case 'note':
      return `origin  ${event.text}`;
    case 'due':
    case 'progress':
      return null;
  }
}

/** `isolate (way both, forMs 319)`. */
function actionWords({ action }: SwarmFault): string {
  const { kind, ...rest } = action;
  const parts = Object.entries(rest).map(([name, value]) => `${name} ${String(value)}`);
  return parts.length === 0 ? kind : `${kind} (${parts.join(', ')})`;
}

/** Time in milliseconds, to the microsecond, then the line. */
export function renderLine({ atMs, text }: TranscriptLine): string {
  return `${atMs.toFixed(3).padStart(10)}  ${text}`;
}
