/** What main knows of one replica's thread, and what it asks of one that may not answer. */
import type { WorkerOptions } from 'node:worker_threads';
import { memberOf, type Member, type Slot } from '../base/member.js';
import { ControlledWorker } from './control.js';
import { Lateness } from './lateness.js';
import { workerFile } from './mesh.js';
import type { ReplicaControl } from './protocol.js';

export interface ReplicaHandle {
  readonly slot: Slot;
  readonly member: Member;
  readonly worker: ControlledWorker<ReplicaControl>;
  alive: boolean;
  serving: boolean;
  /** Faults that stop its host at the moment, and those that slow it. */
  frozen: number;
  slowed: number;
  /** When the last of these was over. */
  thawedMs: number;
  /** What no fault explains of how late it was. */
  readonly lateness: Lateness;
  /** The last sequence that it told. */
  last: number;
  /** The fault that ends it or ended it; null: none does. */
  ending: Ending | null;
  /** The fault that will end it with its next write; null: there is none. */
  doom: Ending | null;
}

/** A fault of the scenario, by its id, and what it does to a member. */
export interface Ending {
  readonly by: string;
  readonly reason: string;
}

const HALT_DEADLINE_MS = 10_000;
/** What was seen of a state is worth no longer wait. */
const SEEN_DEADLINE_MS = 1_000;

/** A new thread for the first member of a slot. */
export function startHandle(slot: Slot, options: WorkerOptions): ReplicaHandle {
  return {
    slot,
    member: memberOf(slot, 1),
    worker: new ControlledWorker<ReplicaControl>(slot, workerFile('replica'), options),
    alive: true,
    serving: false,
    frozen: 0,
    slowed: 0,
    thawedMs: Number.NEGATIVE_INFINITY,
    lateness: new Lateness(),
    last: 0,
    ending: null,
    doom: null,
  };
}

/** A member that a fault is about to end may end first: it is no longer one of the living. */
export async function haltReplica(replica: ReplicaHandle): Promise<void> {
  const { worker } = replica;
  try {
    await worker.call('halt', [], { deadlineMs: HALT_DEADLINE_MS });
  } catch (error) {
    if (replica.ending === null && replica.doom === null) throw error;
    await worker.terminate();
  }
}

/** How far it saw faults' states come; nothing of one that ends, sleeps, or is too slow to say. */
export async function lastSeenBy({
  alive,
  frozen,
  worker,
}: ReplicaHandle): Promise<readonly (readonly [fault: string, progress: number])[]> {
  if (!alive || frozen > 0) return [];
  try {
    return await worker.call('lastSeen', [], { deadlineMs: SEEN_DEADLINE_MS });
  } catch {
    return [];
  }
}

/** Whether a fault explains that its host is late by so much now. */
export function isLatenessExplained(
  { frozen, slowed, thawedMs }: ReplicaHandle,
  nowMs: number,
  byMs: number,
): boolean {
  return frozen > 0 || slowed > 0 || nowMs - byMs <= thawedMs;
}
