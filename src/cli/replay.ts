/** `lockstep replay`: plays a replay file again and prints what was said before its end. */
import type { Command } from 'commander';
import { loadHasher } from '../base/hasher.js';
import { parseCount } from '../base/units.js';
import { printable, quoted } from '../report/text.js';
import type { ReplayFile } from '../sim/replay-file.js';
import { playReplay, type Replayed, type ReplaySummary } from '../sim/replay.js';
import { faultId } from '../sim/swarm.js';
import { renderLine } from '../sim/transcript.js';
import { bodyOf, encodeEvent } from '../verdict/events.js';
import { EXIT } from '../verdict/types.js';
import { readReplay } from './replay-files.js';
import { writeLines } from '../kit/output.js';

interface ReplayFlags {
  readonly until?: string;
  readonly lines: string;
  readonly json?: boolean;
  readonly outDir?: string;
}

export function addReplayCommand(program: Command): void {
  program
    .command('replay')
    .description('play a replay file again, in virtual time, and print the last conversation')
    .argument('<file>', 'what lockstep sweep --shrink wrote')
    .option('--until <event>', 'end before this fault, fate or event number')
    .option('--lines <n>', 'how many lines of the conversation to print, or all', '40')
    .option('--json', 'print the summary alone')
    .option('--out-dir <dir>', 'keep events.ndjson, transcript.txt and summary.json there')
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .action(async (path: string, flags: ReplayFlags) => {
      process.exitCode = await replay(path, flags);
    });
}

async function replay(path: string, flags: ReplayFlags): Promise<number> {
  const lines = flags.lines === 'all' ? Infinity : parseCount('--lines', flags.lines, { min: 0 });
  const file = readReplay(path);
  const replayed = await playReplay(file, await loadHasher(), flags.until ?? null);
  if (flags.outDir !== undefined) keep(flags.outDir, file, replayed);
  const { summary } = replayed;
  const text = flags.json === true ? JSON.stringify(summary) : textOf(path, file, replayed, lines);
  process.stdout.write(`${text}\n`);
  return EXIT[summary.verdict];
}

function keep(dir: string, { plan }: ReplayFile, { summary, lines, events }: Replayed): void {
  const faults = new Map(plan.faults.map((fault, at) => [faultId(fault, at), fault.action.kind]));
  const bodies = events.flatMap((event) => {
    const body = bodyOf(event, faults);
    return body === null ? [] : [encodeEvent(event.atMs, body)];
  });
  writeLines(dir, 'events.ndjson', bodies);
  writeLines(dir, 'transcript.txt', lines.map(renderLine));
  writeLines(dir, 'summary.json', [JSON.stringify(summary, null, 2)]);
}

function textOf(path: string, file: ReplayFile, replayed: Replayed, most: number): string {
  const { plan, about } = file;
  const { summary } = replayed;
  const left = Math.max(0, replayed.lines.length - most);
  const lines = replayed.lines.slice(left);
  const until = summary.until === null ? '' : ` --until ${quoted(summary.until)}`;
  const cluster =
    plan.replicas === 1 ? '1 replica' : `${plan.replicas} replicas, election ${plan.election}`;
  return [
    printable(about),
    `on sim, seed ${plan.seed}, ${cluster}, skip ${plan.skip}`,
    '',
    ...(left > 0 ? [`… ${left} lines before these`] : []),
    ...lines.map((line) => printable(renderLine(line))),
    '',
    ...outcomeLines(summary, file),
    `replay: lockstep replay ${quoted(path)}${until}`,
  ].join('\n');
}

function outcomeLines(summary: ReplaySummary, { expect, failure }: ReplayFile): string[] {
  const { verdict, failure: found, until, asExpected } = summary;
  const what = found === null ? '' : `: ${found.property}: ${found.text}`;
  if (until !== null) return [`${verdict}${what}, ended before ${until}`];
  const said = expect === 'held' ? 'held' : `${expect}: ${failure.property}`;
  return [`${verdict}${what}`, ...(asExpected ? [] : [`the file says ${said}`])];
}
