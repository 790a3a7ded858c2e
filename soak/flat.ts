/**
 * Whether what was measured stayed flat: the median of the last third of the samples against that
 * of the first third, so that neither a sample in the middle of a fault nor the warm-up decides.
 */

/** What may come on top of the first third, and why. */
export interface Allowance {
  /** Bytes whatever happens: code that is compiled late, tables that double. */
  readonly bytes: number;
  /** Bytes of each message that came in between: a store keeps them all. */
  readonly bytesAMessage: number;
  /** Bytes of each fault in between: the report has a line for it. */
  readonly bytesAFault: number;
  /** Of the resident set, which the system rounds: parts of a hundred. */
  readonly residentPercent: number;
  /** Timers: faults in force and calls under way have one each. */
  readonly timers: number;
  /** Other handles. */
  readonly handles: number;
}

export const ALLOWED: Allowance = {
  bytes: 1_048_576,
  bytesAMessage: 64,
  bytesAFault: 2_048,
  residentPercent: 20,
  timers: 8,
  handles: 1,
};

/** What happened between the middles of the two thirds. */
export interface Between {
  readonly messages: number;
  readonly faults: number;
}

export interface Flatness {
  readonly name: string;
  readonly isBytes: boolean;
  /** Medians of the two thirds, and the most that the last one may be. */
  readonly first: number;
  readonly last: number;
  readonly most: number;
}

/** Fewer samples say nothing. */
export const SAMPLES_MIN = 9;

const BYTES = /(?:heapUsed|external|arrayBuffers|resident)$/;

/** @returns null: there are too few samples */
export function flatnessOf(
  name: string,
  values: readonly number[],
  between: Between,
): Flatness | null {
  if (values.length < SAMPLES_MIN) return null;
  const third = Math.floor(values.length / 3);
  const first = median(values.slice(0, third));
  const last = median(values.slice(-third));
  const isBytes = BYTES.test(name);
  const handles = name.endsWith(' Timeout') ? ALLOWED.timers : ALLOWED.handles;
  const most = first + (isBytes ? bytesAllowed(name, first, between) : handles);
  return { name, isBytes, first, last, most };
}

export function isFlat({ last, most }: Flatness): boolean {
  return last <= most;
}

function bytesAllowed(name: string, first: number, { messages, faults }: Between): number {
  const { bytes, bytesAMessage, bytesAFault, residentPercent } = ALLOWED;
  const held = bytes + bytesAMessage * messages;
  if (name === 'process resident') return held + (first * residentPercent) / 100;
  return name.startsWith('main ') ? held + bytesAFault * faults : held;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
