/** A sweep for people: failed seeds first, then what was seen, then the verdict. */
import type { SweepEnd, SweepSummary } from '../verdict/sweep.js';
import { counted, duration, grouped, printable, table } from './text.js';

const ENDED: Readonly<Record<SweepEnd, string | null>> = {
  seeds: null,
  failure: 'ended at the first failure',
  plateau: 'ended when nothing new was seen',
  timeLimit: 'ended by the time limit',
  signal: 'ended by a signal',
};

export function renderSweep(summary: SweepSummary): string {
  const failed = summary.failed.flatMap(({ seed, property, text, replay }) => [
    `seed ${seed}  ${property}: ${printable(text)}`,
    `  replay: ${printable(replay)}`,
  ]);
  const { wallSeconds, seedsPerSecond, simulatedSeconds, timesRealTime } = summary;
  const rows = [
    ...coverageRows(summary),
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
  const lines = [...failed, ...table(rows, new Set()), ''];
  return `${[...lines, `${summary.verdict}: ${said.join(', ')}`].join('\n')}\n`;
}

/** How many faults fell of each kind, at which moments, and what else was met. */
function coverageRows({ coverage }: SweepSummary): string[][] {
  const counts = {
    faults: new Map<string, number>(),
    moments: new Map<string, number>(),
    also: new Map<string, number>(),
  };
  for (const [cell, count] of Object.entries(coverage)) {
    const [table, name] = placeOf(cell);
    counts[table].set(name, (counts[table].get(name) ?? 0) + count);
  }
  const { faults, moments, also } = counts;
  return [
    ['faults', listed(faults) || 'none'],
    ...(moments.size === 0 ? [] : [['moments', listed(moments)]]),
    ...(also.size === 0 ? [] : [['also', listed(also)]]),
    ['cells', grouped(Object.keys(coverage).length)],
  ];
}

function placeOf(cell: string): ['faults' | 'moments' | 'also', string] {
  const fault = /^(\w+) (?:leader|follower|candidate|preCandidate|cluster) \w+$/.exec(cell);
  if (fault !== null) return ['faults', fault[1]!];
  return cell.startsWith('when ') ? ['moments', cell.slice('when '.length)] : ['also', cell];
}

function listed(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => `${name} ${grouped(count)}`).join(', ');
}

function scalingRows({ scaling = [] }: SweepSummary): string[][] {
  const [one, all] = scaling;
  if (one === undefined || all === undefined) return [];
  const times = Math.round((all.seedsPerSecond * 100) / one.seedsPerSecond) / 100;
  const figure = `${one.seedsPerSecond} seeds/s on 1 core, ${all.seedsPerSecond} on ${all.cores}`;
  return [['scaling', `${figure}: ${times} times`]];
}
