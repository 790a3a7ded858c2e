/** A sweep for people: failed seeds first, then what was seen, then the verdict. */
import { faultCellOf, isInstant } from '../base/cells.js';
import type { SweepEnd, SweepSummary } from '../verdict/sweep.js';
import { coverageMatrix, coverageTable, missedText } from './coverage.js';
import { counted, duration, grouped, printable, table } from './text.js';

const ENDED: Readonly<Record<SweepEnd, string | null>> = {
  seeds: null,
  failure: 'ended at the first failure',
  plateau: 'ended when nothing new was seen',
  timeLimit: 'ended by the time limit',
  signal: 'ended by a signal',
};

/** @param whole  the coverage as a matrix, every cell of it */
export function renderSweep(summary: SweepSummary, whole = false): string {
  const failed = summary.failed.flatMap(({ seed, property, text, replay }) => [
    `seed ${seed}  ${property}: ${printable(text)}`,
    `  replay: ${printable(replay)}`,
  ]);
  const { wallSeconds, seedsPerSecond, simulatedSeconds, timesRealTime } = summary;
  const rows = [
    ...countRows(summary),
    [
      'time',
      `${duration(wallSeconds * 1_000)}, ${grouped(seedsPerSecond)} seeds/s; ` +
        `${grouped(simulatedSeconds)} virtual seconds, ${grouped(timesRealTime)} x real time`,
    ],
    ...scalingRows(summary),
    ...(summary.shards ?? []).map(({ shard, seeds, verdict, ended }) => [
      `shard ${shard}`,
      [`${counted(seeds, 'seed')}, ${verdict}`, ENDED[ended]].filter(Boolean).join(', '),
    ]),
  ];
  const said = [
    counted(summary.seeds, 'seed'),
    `${grouped(summary.failed.length)} failed`,
    ENDED[summary.ended],
  ].filter((part) => part !== null);
  const seen = whole ? coverageMatrix(summary.coverage) : coverageTable(summary.coverage);
  const lines = [...failed, ...withBlank(seen), ...table(rows, new Set()), ''];
  return `${[...lines, `${summary.verdict}: ${said.join(', ')}`].join('\n')}\n`;
}

/** How many faults fell of each kind, and what else was met. */
function countRows({ coverage, gates }: SweepSummary): string[][] {
  const faults = new Map<string, number>();
  const also = new Map<string, number>();
  for (const [name, count] of Object.entries(coverage)) {
    const cell = faultCellOf(name);
    if (cell === null) also.set(name, count);
    else if (!isInstant(cell)) faults.set(cell.kind, (faults.get(cell.kind) ?? 0) + count);
  }
  return [
    ['faults', listed(faults) || 'none'],
    ...(also.size === 0 ? [] : [['also', listed(also)]]),
    ['cells', grouped(Object.keys(coverage).length)],
    ...gates.map((gate) => [
      'must hit',
      gate.times === 0 ? missedText(gate) : `${gate.mustHit} ${grouped(gate.times)}`,
    ]),
  ];
}

function listed(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => `${name} ${grouped(count)}`).join(', ');
}

function withBlank(lines: readonly string[]): readonly string[] {
  return lines.length === 0 || lines.at(-1) === '' ? lines : [...lines, ''];
}

function scalingRows({ scaling = [] }: SweepSummary): string[][] {
  const [one, all] = scaling;
  if (one === undefined || all === undefined) return [];
  const times = Math.round((all.seedsPerSecond * 100) / one.seedsPerSecond) / 100;
  const figure = `${one.seedsPerSecond} seeds/s on 1 core, ${all.seedsPerSecond} on ${all.cores}`;
  return [['scaling', `${figure}: ${times} times`]];
}
