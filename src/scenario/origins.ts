/** Origins as written -> origins as planned: counts, gaps and sizes, checked. */
import { RECORD_BYTES_MAX, SEQ_MAX } from '../base/limits.js';
import { invariant, LockstepError, usageError } from '../base/errors.js';
import {
  formatSize,
  parseCount,
  parsePositiveDuration,
  parseRate,
  parseSize,
} from '../base/units.js';
import {
  credentialGiven,
  parseServerUrl,
  withLogin,
  type ConnectionGiven,
  type Credentials,
} from './connection.js';
import { rebuildOrigin } from './rebuild.js';
import type { Scenario } from './schema.js';
import { readText, type ReadFile } from './source.js';
import { isStreamName, subjectsOf } from './subjects.js';
import type {
  DriverName,
  LiveOriginPlan,
  MadeOriginPlan,
  OriginPlan,
  Plan,
  RebuiltOriginPlan,
  SyntheticOriginPlan,
} from './types.js';
import { refusal } from './words.js';

type Raw = Scenario['origin'];

const KINDS = ['synthetic', 'natsGaps', 'nats', 'module'] as const satisfies readonly (keyof Raw)[];
const SIZE_DEFAULT = 128;
/** Half of what a record may have: subject, headers and layout always fit beside it. */
const SIZE_MAX = RECORD_BYTES_MAX / 2;
/** An origin is held in memory; with what surrounds a payload, so much of it at most. */
const ORIGIN_BYTES_MAX = 16 * 1024 * 1024 * 1024;
const AROUND_BYTES = 96;

/** Errors: usage, naming the path or the file, what was found and what was expected. */
export function planOrigin(where: string, origin: Raw, readFile: ReadFile): OriginPlan {
  const { synthetic, natsGaps, nats, module } = origin;
  const given = KINDS.filter((kind) => origin[kind] !== undefined);
  if (given.length !== 1) {
    const found = given.length === 0 ? 'no origin' : given.join(' and ');
    throw usageError(where, found, `exactly one of ${KINDS.join(', ')}`);
  }
  if (nats !== undefined) return planLive(`${where}.nats`, nats);
  if (module !== undefined) {
    const { path, options = null, rate } = module;
    return { kind: 'module', path, options, rate: parseRate(`${where}.module.rate`, rate) };
  }
  if (synthetic !== undefined) {
    return bounded(where, planSynthetic(`${where}.synthetic`, synthetic));
  }
  return bounded(where, planRebuilt(`${where}.natsGaps`, natsGaps!, readFile));
}

function planLive(where: string, raw: NonNullable<Raw['nats']>): LiveOriginPlan {
  const { url, stream, timeout, creds, nkey, ...rest } = raw;
  if (!isStreamName(stream)) throw refusal(`${where}.stream`, stream, 'the name of a stream');
  const given: ConnectionGiven = {
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)),
    ...(creds === undefined ? {} : { creds: credentialGiven(creds) }),
    ...(nkey === undefined ? {} : { nkey: credentialGiven(nkey) }),
    ...subjectsOf(rest, {
      jsDomain: `${where}.jsDomain`,
      jsApiPrefix: `${where}.jsApiPrefix`,
      inboxPrefix: `${where}.inboxPrefix`,
    }),
    ...(timeout === undefined
      ? {}
      : { timeoutMs: parsePositiveDuration(`${where}.timeout`, timeout) }),
  };
  if (url === undefined) return { kind: 'nats', stream, connection: given, rate: null };
  const { servers, ...login } = serversOf(`${where}.url`, url);
  const connection = { ...withLogin(given, login), servers };
  return { kind: 'nats', stream, connection, rate: null };
}

function serversOf(
  where: string,
  url: string,
): Credentials & Required<Pick<ConnectionGiven, 'servers'>> {
  const { path, ...connection } = parseServerUrl(where, url);
  if (path !== null) throw refusal(where, `/${path}`, 'left out here: the stream has its own key');
  return connection;
}

function planSynthetic(where: string, raw: NonNullable<Raw['synthetic']>): SyntheticOriginPlan {
  const messages = parseCount(`${where}.messages`, raw.messages, { min: 1, max: 1e9 });
  return {
    kind: 'synthetic',
    messages,
    size: sizeOf(where, raw.size),
    rate: parseRate(`${where}.rate`, raw.rate),
    gaps: gapsOf(`${where}.gaps`, raw.gaps ?? [], messages),
  };
}

/** Gaps rise and each lies at a place of its own; the last sequence leaves room for a sentinel. */
function gapsOf(
  where: string,
  raw: NonNullable<NonNullable<Raw['synthetic']>['gaps']>,
  messages: number,
): SyntheticOriginPlan['gaps'] {
  let behind = -1;
  let room = SEQ_MAX - messages - 1;
  return raw.map((gap, index) => {
    const path = `${where}[${index}]`;
    const after = parseCount(`${path}.after`, gap.after, { min: 0 });
    const count = parseCount(`${path}.count`, gap.count, { min: 1 });
    if (after > messages) {
      throw usageError(`${path}.after`, after, `within the stream of ${messages} messages`);
    }
    if (after <= behind) {
      throw usageError(`${path}.after`, after, `above ${behind}: gaps rise and do not overlap`);
    }
    if (count > room) throw usageError(`${path}.count`, count, 'a gap that ends below 2^53-1');
    behind = after;
    room -= count;
    return { after, count };
  });
}

function planRebuilt(
  where: string,
  raw: NonNullable<Raw['natsGaps']>,
  readFile: ReadFile,
): RebuiltOriginPlan {
  const read = (path: string): { readonly path: string; readonly text: string } => ({
    path,
    text: readText(where, path, readFile),
  });
  return {
    kind: 'nats-gaps',
    ...rebuildOrigin(read(raw.info), read(raw.file)),
    size: sizeOf(where, raw.size),
    rate: parseRate(`${where}.rate`, raw.rate),
  };
}

function sizeOf(where: string, raw: number | string | undefined): number {
  const size = parseSize(`${where}.size`, raw ?? SIZE_DEFAULT);
  if (size <= SIZE_MAX) return size;
  throw usageError(`${where}.size`, raw, `at most ${formatSize(SIZE_MAX)}`);
}

function bounded(where: string, plan: MadeOriginPlan): MadeOriginPlan {
  if (plan.messages * (plan.size + AROUND_BYTES) <= ORIGIN_BYTES_MAX) return plan;
  const found = `${plan.messages} messages of ${formatSize(plan.size)}`;
  const expected = `within the ${formatSize(ORIGIN_BYTES_MAX)} of memory that an origin may take`;
  throw usageError(where, found, expected);
}

/** For who reaches no network. Errors: usage, when the origin is a live one. */
export function refuseLive(driver: DriverName, { origin }: Pick<Plan, 'origin'>): void {
  if (origin.kind !== 'nats') return;
  const text = `a live origin (${origin.stream}) cannot be played on ${driver}; threads can`;
  throw new LockstepError('usage', text);
}

/** The origin of a plan that is about to be played. Errors: as refuseLive. */
export function madeOrigin(driver: DriverName, plan: Pick<Plan, 'origin'>): MadeOriginPlan {
  refuseLive(driver, plan);
  const { origin } = plan;
  invariant(origin.kind !== 'module' && origin.kind !== 'nats', 'the origin of a plan is loaded');
  return origin;
}
