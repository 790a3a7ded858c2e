/**
 * Where content belongs that stands at a wrong place. Content is a message without its sequence:
 * its timestamp, subject, headers and payload together, so that two messages with the same payload
 * are still two. One pass over the origin's messages settles many misplaced ones at once.
 */
import type { Slot } from '../base/member.js';
import type { SeqRange } from '../stream/types.js';
import type { CopyReader, Difference, LedgerReader, RecordDigest } from './types.js';

/** A message whose content is not what was handed out at its sequence. */
export interface Misplaced {
  readonly seq: number;
  readonly content: string;
  /** What it is when its content belongs nowhere else. */
  readonly otherwise: Pick<Difference, 'kind' | 'text'>;
}

export interface PlacementTask {
  readonly replica: Slot;
  readonly misplaced: readonly Misplaced[];
  /** The origin's messages, a few blocks to a range, rising. */
  readonly ranges: readonly SeqRange[];
  readonly ledger: LedgerReader;
  readonly copy: CopyReader;
  /** True once there is no time left. */
  readonly deadline: () => boolean;
}

/** A sequence that the origin has this content at. */
interface Owner {
  readonly seq: number;
  /** Whether the copy holds it there, or another misplaced message was already explained by it. */
  held: boolean;
}

export function contentOf(record: RecordDigest): string {
  return `${record.timestamp} ${record.subject} ${record.headers} ${record.payload}`;
}

/**
 * Content of another sequence that no longer holds it was moved (`reordered`); of one that still
 * does, it was `duplicated`. Rising like `misplaced`. `complete` is false when the deadline came
 * before all of the origin was read.
 */
export async function placeAll(
  task: PlacementTask,
): Promise<{ readonly differences: readonly Difference[]; readonly complete: boolean }> {
  const owners = new Map<string, Owner[]>();
  for (const { content } of task.misplaced) owners.set(content, []);
  let complete = true;
  for (const range of task.ranges) {
    complete = !task.deadline();
    if (!complete) break;
    await findOwners(task, range, owners);
  }
  const differences = task.misplaced.map((message) => ({
    replica: task.replica,
    seq: message.seq,
    ...placed(message, owners.get(message.content) ?? [], complete),
  }));
  return { differences, complete };
}

async function findOwners(
  task: PlacementTask,
  range: SeqRange,
  owners: ReadonlyMap<string, Owner[]>,
): Promise<void> {
  const wanted = (await task.ledger.records(range)).filter((record) =>
    owners.has(contentOf(record)),
  );
  if (wanted.length === 0) return;
  const held = new Map<number, string>();
  for (const record of await task.copy.records(range)) held.set(record.seq, contentOf(record));
  for (const record of wanted) {
    const content = contentOf(record);
    owners.get(content)?.push({ seq: record.seq, held: held.get(record.seq) === content });
  }
}

function placed(
  message: Misplaced,
  owners: readonly Owner[],
  complete: boolean,
): Pick<Difference, 'kind' | 'text'> {
  const elsewhere = owners.filter((owner) => owner.seq !== message.seq);
  const [first] = elsewhere;
  if (first === undefined) {
    if (complete) return message.otherwise;
    const { kind, text } = message.otherwise;
    return { kind, text: `${text}; no time to look whether it belongs elsewhere` };
  }
  const vacant = elsewhere.find((owner) => !owner.held);
  if (vacant === undefined) {
    return { kind: 'duplicated', text: `holds the message of ${first.seq}, which has it too` };
  }
  // One vacant place explains one moved message; further copies of it are duplicates.
  vacant.held = true;
  return { kind: 'reordered', text: `holds the message of ${vacant.seq}, which does not` };
}
