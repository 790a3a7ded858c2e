/** Plays the cases on a cluster of one version and compares what is seen with what is known. */
import { setTimeout } from 'node:timers/promises';
import { NatsCluster } from '../src/nats/cluster.js';
import { askVerify } from './ask-verify.js';
import { Session } from './session.js';
import { statesOf } from './states.js';
import {
  SERIES,
  type Known,
  type KnownCase,
  type Said,
  type Series,
  type Stage,
  type StateText,
} from './types.js';

export interface Answer {
  readonly id: string;
  readonly version: string;
  /** Whether it is what is known; null: not played. */
  readonly isKnown: boolean | null;
  /** What replicas hold: one text if they agree. */
  readonly states: readonly StateText[];
  readonly said: Said | null;
  /** Why it was not played, or what is other than known. */
  readonly why: string | null;
  readonly elapsedMs: number;
}

const AT_ONCE = 4;
const REST_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 100;
const ASKS_MAX = 3;

/** @param tell  is told of each answer when it is there */
export async function playCases(
  binary: string,
  cases: readonly KnownCase[],
  tell: (answer: Answer) => void,
): Promise<Answer[]> {
  await using cluster = await NatsCluster.start({ servers: 3, binary });
  await using session = await Session.connect(cluster);
  const series = seriesOf(cluster.version);
  const stage: Stage = {
    ...{ cluster, session, series },
    rest: (stream, state, withinMs = REST_WITHIN_MS) => rest(stage, stream, state, withinMs),
  };
  const answers = new Map<string, Answer>();
  const play = async (each: KnownCase): Promise<void> => {
    const answer = await playCase(stage, each);
    tell(answer);
    answers.set(each.id, answer);
  };
  const queue = cases.filter(({ disturbs = false }) => !disturbs).values();
  const feed = async (): Promise<void> => {
    for (const each of queue) await play(each);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, feed));
  for (const each of cases) if (each.disturbs === true) await play(each);
  return cases.flatMap(({ id }) => answers.get(id) ?? []);
}

/** A version that is newer than all is expected to do what the newest does. */
function seriesOf(version: string): Series {
  const found = SERIES.find((series) => version.startsWith(`${series}.`));
  return found ?? SERIES.at(-1)!;
}

async function playCase(stage: Stage, played: KnownCase): Promise<Answer> {
  const { id, known, stream } = played;
  const startedAt = performance.now();
  const { version } = stage.cluster;
  const expected = known[stage.series];
  const answer = { id, version, isKnown: null, states: [], said: null, why: null, elapsedMs: 0 };
  if (typeof expected === 'string') return { ...answer, why: expected };
  const ended = (): Pick<Answer, 'elapsedMs'> => {
    return { elapsedMs: Math.round(performance.now() - startedAt) };
  };
  try {
    await played.play(stage);
    const states = await distinct(stage, stream);
    const said = await asked(stage, played);
    const why = deviation(expected, states, said);
    return { ...answer, isKnown: why === null, states, said, why, ...ended() };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const states = await distinct(stage, stream);
    return { ...answer, isKnown: false, states, why, ...ended() };
  }
}

/** What it could not tell is asked again: on a busy machine a server may answer too late. */
async function asked({ cluster }: Stage, played: KnownCase): Promise<Said> {
  for (let tries = 1; ; tries++) {
    const said = await askVerify(cluster, played);
    if (said.result !== 'inconclusive' || tries === ASKS_MAX) return said;
    process.stderr.write(`${cluster.version} ${played.id} inconclusive, asked again\n`);
  }
}

async function distinct({ cluster }: Stage, stream: string): Promise<StateText[]> {
  return [...new Set((await statesOf(cluster, stream)).values())].sort();
}

function deviation(
  { state, said: expected }: Known,
  states: readonly StateText[],
  said: Said,
): string | null {
  if (state !== null && states.join(' ') !== state) return `known is ${state}`;
  if (said.result !== expected.result) return `known is "${expected.result}"`;
  const { found = said.found, backlog = said.backlog } = expected;
  if (said.found.join(', ') !== found.join(', ')) return `known is ${found.join(', ')}`;
  return said.backlog === backlog ? null : `known is "${backlog}", said is "${said.backlog}"`;
}

async function rest(
  { cluster, session }: Stage,
  stream: string,
  state: StateText,
  withinMs: number,
): Promise<void> {
  const { config } = await session.ask(`STREAM.INFO.${stream}`);
  const { num_replicas: replicas } = config as { readonly num_replicas: number };
  const lastLook = performance.now() + withinMs;
  while (performance.now() < lastLook) {
    const states = [...(await statesOf(cluster, stream)).values()];
    if (states.length === replicas && states.every((each) => each === state)) return;
    await setTimeout(LOOK_EVERY_MS);
  }
}
