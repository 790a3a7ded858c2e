/**
 * The mirror and its origin, found from one name, and refused at once where there is nothing to
 * compare. The mirror is looked at first: an origin only grows, so its last is then at or above.
 */
import { LockstepError, toErrorData } from '../base/errors.js';
import { JetStreamAccess } from '../nats/access.js';
import {
  API_ERROR,
  apiErrorOf,
  isNotEnabled,
  isTransient,
  type JetStreamApi,
} from '../nats/api.js';
import { findStream } from '../nats/find-stream.js';
import type { Settings } from '../nats/settings.js';
import { streamFacts, type StreamFacts } from './stream-facts.js';

export interface Side {
  readonly access: JetStreamAccess;
  readonly stream: string;
}

export interface Sides extends AsyncDisposable {
  readonly origin: Side;
  readonly mirror: Side;
}

export interface SidesGiven {
  readonly stream: string;
  readonly settings: Settings;
  /** The origin's name, when it is told. */
  readonly origin: string | null;
  /** How to reach the origin, when it is told. */
  readonly originSettings: Settings | null;
}

export interface Facts {
  readonly mirror: StreamFacts;
  readonly origin: StreamFacts;
}

/** Up to how many deletes are asked for by number: 200,000 did not fit a message. */
const DELETED_DETAILS_MAX = 50_000;

/** Errors: usage, one line; timeout, when nobody can answer at this moment. */
export async function openSides(given: SidesGiven): Promise<{ sides: Sides; facts: Facts }> {
  const opened: JetStreamAccess[] = [];
  try {
    const access = await JetStreamAccess.open(given.settings);
    opened.push(access);
    const mirror = await described(access.api, given.stream);
    const name = originName(mirror, given.origin);
    const through = await originAccess(access, mirror, given, opened);
    const origin = await originFacts(through.api, name, mirror);
    const sides = {
      mirror: { access, stream: given.stream },
      origin: { access: through, stream: name },
      [Symbol.asyncDispose]: () => closeAll(opened),
    };
    return { sides, facts: { mirror, origin } };
  } catch (error) {
    await closeAll(opened);
    const { code, message } = toErrorData(error);
    if (isTransient(error)) throw new LockstepError('timeout', message);
    throw code === 'originRefused' ? new LockstepError('usage', message) : error;
  }
}

/** Both as they are now. Errors: timeout, originRefused. */
export async function readFacts({ mirror, origin }: Sides, deleted = false): Promise<Facts> {
  const ofMirror = await factsOf(mirror.access.api, mirror.stream, deleted);
  return { mirror: ofMirror, origin: await factsOf(origin.access.api, origin.stream, deleted) };
}

/** Why what was read between the two was not one stream on each side; null: it was. */
export function changeBetween(before: Facts, after: Facts): string | null {
  for (const side of ['origin', 'mirror'] as const) {
    const [then, now] = [before[side], after[side]];
    if (then.created !== now.created) return `${now.name} was made anew while it was read`;
    if (then.state.last_seq > now.state.last_seq) return `${now.name} lost its end meanwhile`;
  }
  const { name } = after.mirror;
  return rulesOf(before.mirror) === rulesOf(after.mirror)
    ? null
    : `${name} was configured otherwise while it was read`;
}

/** By what a mirror lets go of messages: what other rules dropped, these do not explain. */
function rulesOf(facts: StreamFacts): string {
  const { mirror, retention, discardsNew, allowsTtl } = facts;
  const { maxMessages, maxBytes, maxPerSubject, maxAgeMs } = facts;
  const limits = [maxMessages, maxBytes, maxPerSubject, maxAgeMs];
  return JSON.stringify([mirror?.name, retention, discardsNew, allowsTtl, ...limits]);
}

async function factsOf(api: JetStreamApi, stream: string, deleted: boolean): Promise<StreamFacts> {
  const facts = streamFacts(await api.streamInfo(stream));
  const { num_deleted } = facts.state;
  if (!deleted || num_deleted > DELETED_DETAILS_MAX) return facts;
  if (num_deleted === 0) return { ...facts, deleted: [] };
  return streamFacts(await api.streamInfo(stream, true));
}

/** Errors: usage and what the server said. */
export function described(api: JetStreamApi, stream: string): Promise<StreamFacts> {
  return findStream(api, stream, () => factsOf(api, stream, false));
}

function originName({ name, mirror, hasSources }: StreamFacts, given: string | null): string {
  if (mirror !== null) {
    if (given === null || given === mirror.name) return mirror.name;
    const text = `--origin: ${name} is a mirror of ${mirror.name}, not of ${given}`;
    throw new LockstepError('usage', text);
  }
  if (hasSources) {
    const text =
      `${name} is not a mirror (it has sources); verify compares mirrors only, and the replicas ` +
      'of any stream with --replicas';
    throw new LockstepError('usage', text);
  }
  if (given === name) throw new LockstepError('usage', `--origin: ${given} is the stream itself`);
  if (given !== null) return given;
  const text =
    `${name} is not a mirror: compare its replicas with --replicas, or name what it was a mirror ` +
    'of with --origin';
  throw new LockstepError('usage', text);
}

async function originAccess(
  access: JetStreamAccess,
  { mirror }: StreamFacts,
  { originSettings }: SidesGiven,
  opened: JetStreamAccess[],
): Promise<JetStreamAccess> {
  if (originSettings === null) {
    const prefix = mirror?.externalApi ?? null;
    return prefix === null ? access : access.through(prefix);
  }
  const other = await JetStreamAccess.open(originSettings);
  opened.push(other);
  return other;
}

async function originFacts(
  api: JetStreamApi,
  name: string,
  { mirror }: StreamFacts,
): Promise<StreamFacts> {
  try {
    return await factsOf(api, name, false);
  } catch (error) {
    const isAbsent = apiErrorOf(error) === API_ERROR.streamNotFound;
    if (!isAbsent && !isNotEnabled(error)) throw error;
    const where = mirror?.externalApi ?? '$JS.API';
    const text =
      `origin ${name} not found through ${where}: it may have been deleted; ` +
      'if it is elsewhere, give --origin-context';
    throw new LockstepError('usage', text);
  }
}

async function closeAll(opened: readonly JetStreamAccess[]): Promise<void> {
  await Promise.all(opened.map((access) => access[Symbol.asyncDispose]()));
}
