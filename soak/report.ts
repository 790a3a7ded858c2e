/** A part of a soak for people: what was played, which faults fell, what was measured. */
import { counted, duration, grouped, printable, table } from '../src/report/text.js';
import type { PlayResult } from '../src/scenario/play.js';
import type { Reason } from '../src/verdict/types.js';
import { isFlat, SAMPLES_MIN, type Flatness } from './flat.js';

/** Faults by kind and what became of them. */
export type Struck = ReadonlyMap<string, number>;

export interface SoakPart {
  readonly title: string;
  readonly reasons: readonly Reason[];
  readonly messages: number;
  readonly elections: number;
  readonly longestStallMs: number;
  readonly struck: Struck;
  readonly measured: readonly Flatness[];
}

/** What was lost, stalled or not understood, and under which seed it comes again. */
export function reasonsOf({ reasons, summary }: PlayResult): Reason[] {
  return reasons.map(({ verdict, text }) => ({ verdict, text: `seed ${summary.seed}: ${text}` }));
}

/** What grew is a fault of lockstep, never one of the cluster. */
export function growthOf(measured: readonly Flatness[], samples: number): Reason[] {
  const grown = measured
    .filter((each) => !isFlat(each))
    .map(({ name, isBytes, first, last, most }): Reason => {
      const [from, to, at] = [first, last, most].map((value) => sized(value, isBytes));
      return { verdict: 'harness', text: `${name} grew from ${from} to ${to}, allowed ${at}` };
    });
  if (samples >= SAMPLES_MIN) return grown;
  return [...grown, { verdict: 'inconclusive', text: `${samples} samples, ${SAMPLES_MIN} wanted` }];
}

export function renderPart(part: SoakPart): string {
  const { title, reasons, messages, elections, longestStallMs, struck, measured } = part;
  const faults = [...struck].sort(([one], [other]) => (one < other ? -1 : 1));
  const rows = measured.map((each) => [
    each.name,
    ...[each.first, each.last, each.most].map((value) => sized(value, each.isBytes)),
    isFlat(each) ? '' : 'grew',
  ]);
  return [
    title,
    `  ${counted(messages, 'message')} compared, ${counted(elections, 'election')}, ` +
      `longest stall ${duration(longestStallMs)}`,
    `  ${faults.map(([fault, count]) => `${fault} ${grouped(count)}`).join(', ')}`,
    '',
    ...table([['', 'first third', 'last third', 'at most', ''], ...rows], new Set([1, 2, 3])).map(
      (line) => `  ${line}`.trimEnd(),
    ),
    '',
    ...reasons.map(({ verdict, text }) => `  ${verdict}: ${printable(text)}`),
    ...(reasons.length === 0 ? [] : ['']),
  ].join('\n');
}

function sized(value: number, isBytes: boolean): string {
  return isBytes ? `${(value / 1_048_576).toFixed(2)} MiB` : String(value);
}
