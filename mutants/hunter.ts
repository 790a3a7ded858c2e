/**
 * Entry of a child process: plays drawn seeds on the build in the folder that it is given, base by
 * base, each until a check fails; then shrinks the first few kills, and plays what came of it and
 * the script that is known twice. Each of these is one line of JSON. A process of its own, because
 * a mutant may never come back, or take all memory; and because only so its CPU time is known.
 *
 *     node hunter.js FOLDER REQUEST    a HunterRequest as JSON
 */
import { pathToFileURL } from 'node:url';
import type * as HasherModule from '../src/base/hasher.js';
import type * as ReplayModule from '../src/sim/replay-file.js';
import type * as EventsModule from '../src/sim/shrink.js';
import type * as ShrinkModule from '../src/sim/shrink-run.js';
import type { SwarmFocus } from '../src/sim/swarm-focus.js';
import type { SwarmPlan } from '../src/sim/swarm-plan.js';
import type * as RunModule from '../src/sim/swarm-run.js';
import type * as DrawModule from '../src/sim/swarm.js';
import type * as TraceModule from '../src/sim/trace.js';
import type { SeedFailure } from '../src/verdict/sweep.js';
import type { KnownScript } from './scripts.js';

export interface HunterRequest {
  /** Seeds of one base. */
  readonly seeds: number;
  readonly bases: number;
  /** What the runs lean to; null: drawn. */
  readonly focus: SwarmFocus | null;
  /** Properties that may fail first. */
  readonly fires: readonly string[];
  /** How many kills are shrunk, and the CPU time that each may take. */
  readonly shrinks: number;
  readonly shrinkLimitMs: number;
  /** The shortest script that is known; null: there is none. */
  readonly script: KnownScript | null;
  /** Seeds under which each part of a script by hand is played. */
  readonly parts: number;
}

/** What became of one base: seeds SEEDS * base + 1 and so on were played, up to the first kill. */
export interface BaseReport {
  readonly kind: 'base';
  readonly base: number;
  readonly seeds: number;
  readonly cpuMs: number;
  /** Null: all seeds held. */
  readonly killed: (SeedFailure & { readonly seed: number }) | null;
}

/** What shrinking one kill came to. */
export interface ShrunkReport {
  readonly kind: 'shrunk';
  readonly seed: number;
  readonly cpuMs: number;
  readonly from: number;
  readonly to: number;
  readonly end: ShrinkModule.ShrunkRun['end'];
  readonly replayed: Replayed;
}

/** The script that is known, played. */
export interface ScriptReport {
  readonly kind: 'script';
  readonly events: number;
  readonly byHand: boolean;
  readonly replayed: Replayed;
  readonly parts: PartsPlayed;
}

/** What a script is without some of its events, or all: every such part, from several seeds. */
export interface PartsPlayed {
  readonly played: number;
  /** These kill too: the script is not minimal. */
  readonly killed: number;
}

/** A replay file, played twice. */
export interface Replayed {
  /** The file. */
  readonly text: string;
  readonly failure: SeedFailure | null;
  /** Of the event stream, one for each time. */
  readonly digests: readonly [string, string];
}

export type HunterReport = BaseReport | ShrunkReport | ScriptReport;

const [folder = '', requested = ''] = process.argv.slice(2);
const request = JSON.parse(requested) as HunterRequest;
const from = (path: string): string => new URL(path, pathToFileURL(`${folder}/`)).href;
const { loadHasher } = (await import(from('src/base/hasher.js'))) as typeof HasherModule;
const { drawSwarm } = (await import(from('src/sim/swarm.js'))) as typeof DrawModule;
const { runSwarm } = (await import(from('src/sim/swarm-run.js'))) as typeof RunModule;
const { eventsOf } = (await import(from('src/sim/shrink.js'))) as typeof EventsModule;
const { shrinkRun } = (await import(from('src/sim/shrink-run.js'))) as typeof ShrinkModule;
const { encodeReplay, parseReplay } = (await import(
  from('src/sim/replay-file.js')
)) as typeof ReplayModule;
const { TraceDigest } = (await import(from('src/sim/trace.js'))) as typeof TraceModule;
const hasher = await loadHasher();
await work(request);

async function work({ bases, shrinks, script, fires }: HunterRequest): Promise<void> {
  let left = shrinks;
  for (let base = 0; base < bases; base++) {
    const found = await hunt(base);
    report(found);
    if (left === 0 || found.killed === null || !fires.includes(found.killed.property)) continue;
    left--;
    const shrunk = await shrinkOne(found.killed.seed);
    if (shrunk !== null) report(shrunk);
  }
  if (script !== null) report(await playScript(script));
}

async function playScript({ text, byHand }: KnownScript): Promise<ScriptReport> {
  const { plan } = parseReplay(text, 'script');
  const parts = byHand ? await playParts(plan) : { played: 0, killed: 0 };
  return { kind: 'script', events: eventsOf(plan), byHand, replayed: await replayed(text), parts };
}

/** Each set of events that lacks one of the script's or more; from the script's seed on. */
async function playParts(plan: SwarmPlan): Promise<PartsPlayed> {
  let [played, killed] = [0, 0];
  for (let mask = 0; mask < 2 ** eventsOf(plan) - 1; mask++) {
    const part = partOf(plan, mask);
    for (let seed = plan.seed; seed < plan.seed + request.parts; seed++) {
      const { failure } = await runSwarm({ ...part, seed }, hasher);
      played++;
      if (failure !== null && request.fires.includes(failure.property)) killed++;
    }
  }
  return { played, killed };
}

/** The events whose bit is set, faults before fates. */
function partOf({ faults, fates = [], ...plan }: SwarmPlan, mask: number): SwarmPlan {
  const isIn = (at: number): boolean => ((mask >> at) & 1) === 1;
  return {
    ...plan,
    faults: faults.filter((_, at) => isIn(at)),
    fates: fates.filter((_, at) => isIn(faults.length + at)),
  };
}

async function hunt(base: number): Promise<BaseReport> {
  const { seeds } = request;
  const beforeMs = cpuNowMs();
  let played = 0;
  let killed: BaseReport['killed'] = null;
  while (killed === null && played < seeds) {
    const seed = base * seeds + ++played;
    const { failure } = await runSwarm(drawn(seed), hasher);
    if (failure !== null) killed = { ...failure, seed };
  }
  return { kind: 'base', base, seeds: played, cpuMs: cpuNowMs() - beforeMs, killed };
}

/** Null: it is no longer there once it is played again. */
async function shrinkOne(seed: number): Promise<ShrunkReport | null> {
  const beforeMs = cpuNowMs();
  const isOver = (): boolean => cpuNowMs() - beforeMs >= request.shrinkLimitMs;
  const shrunk = await shrinkRun(drawn(seed), hasher, isOver);
  if (shrunk === null) return null;
  const cpuMs = cpuNowMs() - beforeMs;
  const { plan, failure, events, end } = shrunk;
  const { verdict, property } = failure;
  const about = `seed ${seed}: ${property}`;
  const stated = { format: 1, lockstep: 'mutant', about, expect: verdict, failure, plan } as const;
  const text = encodeReplay(stated);
  return { kind: 'shrunk', seed, cpuMs, ...events, end, replayed: await replayed(text) };
}

/** As `lockstep replay` plays it, from its text. */
async function replayed(text: string): Promise<Replayed> {
  const { plan } = parseReplay(text, 'script');
  const [first, second] = [await traced(plan), await traced(plan)];
  return { text, failure: first.failure, digests: [first.digest, second.digest] };
}

async function traced(plan: SwarmPlan): Promise<{ failure: SeedFailure | null; digest: string }> {
  const trace = new TraceDigest(hasher);
  const played = await runSwarm(plan, hasher, trace.onEvent);
  return { failure: played.failure, digest: trace.ended(played) };
}

function drawn(seed: number): SwarmPlan {
  return drawSwarm(seed, { focus: request.focus ?? undefined });
}

function cpuNowMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function report(line: HunterReport): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
