/**
 * The whole event stream of a seed as text, one line an event, so that two plays of the seed can be
 * compared byte for byte and the first difference be named; and its digest, to be kept in a file.
 * With draws: each line also says which draw came last before it.
 */
import { digestText, type Hasher } from '../base/hasher.js';
import type { ClusterEvent } from '../scenario/driver.js';
import { canonicalText } from '../verdict/events.js';
import type { SeedReport } from '../verdict/sweep.js';
import type { Taps } from './taps.js';

/** What watches a play. */
export interface Witness extends Pick<Taps, 'onDraw'> {
  readonly onEvent: (event: ClusterEvent) => void;
}

/** Digest of the events of one seed, and of what it came to; draws are not part of it. */
export class TraceDigest implements Witness {
  readonly #stream: ReturnType<Hasher['stream64']>;
  readonly #encoder = new TextEncoder();

  constructor(hasher: Hasher) {
    this.#stream = hasher.stream64();
  }

  readonly onEvent = (event: ClusterEvent): void => this.#add(canonicalText(event));

  /** Sixteen hexadecimal digits of xxh64 over all lines, each with its newline. */
  ended(report: SeedReport): string {
    this.#add(outcomeLine(report));
    return digestText(this.#stream.digest());
  }

  #add(line: string): void {
    this.#stream.update(this.#encoder.encode(`${line}\n`));
  }
}

/** Every event of one seed with the draw before it: tab-separated, UTF-8. */
export class Trace implements Witness {
  readonly #lines: string[] = [];
  readonly #counts = new Map<string, number>();
  #label = '';
  #value = 0;

  readonly onEvent = (event: ClusterEvent): void => this.#add(canonicalText(event));

  readonly onDraw = (label: string, value: number): void => {
    this.#counts.set(label, (this.#counts.get(label) ?? 0) + 1);
    this.#label = label;
    this.#value = value;
  };

  ended(report: SeedReport): Uint8Array {
    this.#add(outcomeLine(report));
    return new TextEncoder().encode(this.#lines.join('\n'));
  }

  #add(line: string): void {
    const nth = this.#counts.get(this.#label);
    const draw = nth === undefined ? 'none' : `${this.#label} #${nth} = ${this.#value}`;
    this.#lines.push(`${line}\t${draw}`);
  }
}

function outcomeLine({ failure, simulatedMs }: SeedReport): string {
  return canonicalText({ kind: 'outcome', failure, simulatedMs });
}

/**
 * The first line in which two traces of one seed differ, in words; null: they are the same. Lines
 * may go without their draws.
 */
export function firstDifference(one: Uint8Array, other: Uint8Array): string | null {
  if (isEqual(one, other)) return null;
  const [lines, others] = [linesOf(one), linesOf(other)];
  const at = lines.findIndex((line, position) => line !== others[position]);
  const position = at === -1 ? lines.length : at;
  const [event, draw] = partsOf(lines[position]);
  const [otherEvent, otherDraw] = partsOf(others[position]);
  const draws = draw === otherDraw ? draw : `${draw}, or ${otherDraw}`;
  const events = event === otherEvent ? event : `${event}, or ${otherEvent}`;
  const where = `event ${position + 1} is ${events}`;
  return draws === '' ? where : `${where}; last draw before it: ${draws}`;
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false;
  return true;
}

function linesOf(trace: Uint8Array): string[] {
  return new TextDecoder().decode(trace).split('\n');
}

function partsOf(line: string | undefined): [event: string, draw: string] {
  if (line === undefined) return ['the end', ''];
  const [event = '', draw = ''] = line.split('\t');
  return [event, draw];
}
