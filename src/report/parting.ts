/** Runs of one scenario on several drivers, side by side, and where they part. */
import type { DriverName } from '../scenario/types.js';
import type { Parting } from '../verdict/parting.js';
import type { RunSummary } from '../verdict/types.js';
import { duration, grouped, printable, table } from './text.js';

const HEAD = ['', 'verdict', 'last', 'messages', 'elections', 'stall', 'took', 'faults'];
const RIGHT = new Set([2, 3, 4, 5, 6]);

/** Which of the runs were compared, and what was found. */
export interface Compared {
  readonly found: readonly Parting[];
  /** Drivers whose runs came to their end, in the order of what each parting found. */
  readonly compared: readonly DriverName[];
  /** A signal came before their turn. */
  readonly notPlayed: readonly DriverName[];
}

/** Lines end with a newline. Text of the user or of a stream is escaped. */
export function renderPartings(
  name: string,
  summaries: readonly RunSummary[],
  { found, compared, notPlayed }: Compared,
): string {
  const drivers = summaries.map(({ driver }) => driver);
  const lines = [
    printable(name),
    `on ${drivers.join(', ')}, seed ${summaries[0]?.seed ?? 0}`,
    '',
    ...table([HEAD, ...summaries.map(rowOf), ...notPlayed.map(notPlayedRow)], RIGHT),
    '',
    ...partingLines(compared, found),
    ...uncomparedLines(drivers, compared),
    ...summaries.map(({ driver, replay }) => `replay on ${driver}: ${printable(replay)}`),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function notPlayedRow(driver: DriverName): string[] {
  return [driver, 'not played', ...HEAD.slice(2).map(() => '-')];
}

/** A run that was cut short has not found yet what it would have found. */
function uncomparedLines(drivers: readonly string[], compared: readonly string[]): string[] {
  const short = drivers.filter((driver) => !compared.includes(driver));
  return short.length === 0 ? [] : [`cut short, so not compared: ${short.join(', ')}`, ''];
}

function rowOf(summary: RunSummary): string[] {
  const { driver, verdict, replicas, leadership, stallMs, elapsedMs, faults } = summary;
  const lasts = replicas.map(({ last }) => last);
  const messages = replicas.map((replica) => replica.messages);
  const installed = faults.filter(({ status }) => status === 'installed').length;
  return [
    driver,
    verdict,
    between(lasts),
    between(messages),
    String(leadership.elections),
    duration(stallMs),
    duration(elapsedMs),
    `${installed} of ${faults.length}`,
  ];
}

/** What all replicas have, or the least and the most of it. */
function between(values: readonly number[]): string {
  if (values.length === 0) return '-';
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return least === most ? grouped(least) : `${grouped(least)}..${grouped(most)}`;
}

function partingLines(drivers: readonly string[], found: readonly Parting[]): string[] {
  if (drivers.length < 2) return [];
  if (found.length === 0) return ['they found the same', ''];
  return found.flatMap(({ what, found: texts }) => {
    const rows = drivers.map((driver, at) => [`  ${driver}`, printable(texts[at] ?? '')]);
    return [`they part in: ${what}`, ...table(rows, new Set()), ''];
  });
}
