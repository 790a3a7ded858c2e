/**
 * A token with which a comparison goes on where it ended. It is refused when either stream was made
 * anew or configured otherwise, when the mirror ends below where it ended, or when the last message
 * compared is another one. What was compared before is not read again.
 */
import { z } from 'zod';
import { LockstepError } from '../base/errors.js';
import { digestText, type Hasher } from '../base/hasher.js';
import type { Border, MirrorComparison } from './comparison.js';
import type { Json, StreamFacts } from './stream-facts.js';

const seq = z.int().nonnegative();
const found = z.strictObject({
  kind: z.string(),
  first: seq,
  last: seq,
  count: seq,
  ranges: z.array(z.tuple([seq, seq])).nullable(),
});

const schema = z.strictObject({
  schema: z.literal(1),
  mirror: z.string(),
  origin: z.string(),
  /** Nanoseconds since 1970, as text. */
  created: z.strictObject({ mirror: z.string(), origin: z.string() }),
  /** Of both configurations. */
  config: z.string(),
  from: seq,
  upTo: seq,
  next: seq,
  border: z.strictObject({ seq, digest: z.string() }).nullable(),
  compared: seq,
  differences: z.array(found),
  explained: z.array(found),
});

export type ResumeToken = z.infer<typeof schema>;

export function resumeToken(
  sides: { readonly origin: StreamFacts; readonly mirror: StreamFacts },
  scope: { readonly from: number; readonly upTo: number },
  comparison: MirrorComparison,
  hasher: Hasher,
): ResumeToken {
  const { origin, mirror } = sides;
  return {
    schema: 1,
    mirror: mirror.name,
    origin: origin.name,
    created: { mirror: String(mirror.created), origin: String(origin.created) },
    config: configDigest(sides, hasher),
    ...scope,
    next: Math.max(scope.from, comparison.next),
    border: comparison.lastBorder,
    compared: comparison.compared,
    differences: comparison.differences.all().map(packed),
    explained: comparison.explained.all().map(packed),
  };
}

/** Errors: usage, naming the file. */
export function parseToken(where: string, text: string): ResumeToken {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    raw = null;
  }
  const token = schema.safeParse(raw);
  if (token.success) return token.data;
  throw new LockstepError('usage', `${where}: not a resume token of lockstep verify`);
}

/** Errors: usage, saying what changed. */
export function checkToken(
  token: ResumeToken,
  sides: { readonly origin: StreamFacts; readonly mirror: StreamFacts },
  border: Border | null,
  hasher: Hasher,
): void {
  const { origin, mirror } = sides;
  const changed = [
    token.mirror === mirror.name ? null : `it is of ${token.mirror}`,
    token.origin === origin.name ? null : `its origin was ${token.origin}`,
    token.created.mirror === String(mirror.created) ? null : `${mirror.name} was made anew`,
    token.created.origin === String(origin.created) ? null : `${origin.name} was made anew`,
    token.config === configDigest(sides, hasher) ? null : 'a configuration was changed',
    token.upTo <= mirror.state.last_seq ? null : `${mirror.name} ends below ${token.upTo}`,
    border === null || border.digest === token.border?.digest
      ? null
      : `message ${border.seq} of ${origin.name} is another one`,
  ].find((reason) => reason !== null);
  if (changed === undefined) return;
  throw new LockstepError('usage', `--resume: cannot go on: ${changed}; begin anew without it`);
}

/** Takes over what was found before. */
export function restore(token: ResumeToken, comparison: MirrorComparison): void {
  comparison.next = token.next;
  comparison.lastBorder = token.border;
  comparison.compared = token.compared;
  for (const [findings, list] of [
    [comparison.differences, token.differences],
    [comparison.explained, token.explained],
  ] as const) {
    for (const { kind, first, last, count, ranges } of list) {
      for (const range of ranges ?? []) findings.add(kind as never, range[0], range[1]);
      if (ranges === null) findings.tally(kind as never, first, last, count);
    }
  }
}

function packed(found: {
  readonly kind: string;
  readonly first: number;
  readonly last: number;
  readonly count: number;
  readonly ranges: readonly { readonly first: number; readonly last: number }[] | null;
}): ResumeToken['differences'][number] {
  const ranges = found.ranges?.map(({ first, last }): [number, number] => [first, last]) ?? null;
  return { ...found, ranges };
}

function configDigest(
  { origin, mirror }: { readonly origin: StreamFacts; readonly mirror: StreamFacts },
  hasher: Hasher,
): string {
  const text = JSON.stringify([ordered(origin.config), ordered(mirror.config)]);
  return digestText(hasher.hash64(Buffer.from(text)));
}

/** Servers of another version may write fields in another order, and their own metadata. */
function ordered(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(ordered);
  const fields = Object.entries(value as Json)
    .filter(([name]) => !name.startsWith('_nats.'))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(fields.map(([name, field]) => [name, ordered(field)]));
}
