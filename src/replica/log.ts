/**
 * What a replica needs of the log that orders its commands. Raft is one; with a single replica the
 * journal alone is the other (direct.ts). Both are driven the same way, so Replica has one path.
 */
import type { Member } from '../base/member.js';
import type {
  Batch,
  Entry,
  Message,
  ProposeResult,
  RaftReady,
  RaftStatus,
  Role,
} from '../raft/types.js';

export interface CommandLog {
  readonly role: Role;
  readonly term: number;
  readonly vote: Member | null;
  readonly leader: Member | null;
  readonly commit: number;
  readonly lastIndex: number;
  readonly durableIndex: number;
  step(message: Message): void;
  tick(unreadPeers: boolean): void;
  propose(term: number, batch: Batch): ProposeResult;
  uncommittedRoom(): number;
  persisted(ticket: number): void;
  persistFailed(ticket: number): void;
  campaign(order: { readonly term: number; readonly deadLeader: Member | null }): boolean;
  /** Sends every peer something that it answers. */
  probe(): void;
  /** @param cause  what is told of it when nobody is named; default: stepDown */
  stepDown(to: Member | 'best' | null, cause?: 'stepDown' | 'overrun'): boolean;
  /** Whether some batch of this leader is durable on exactly so many members, itself counted. */
  appendedOn(members: number): boolean;
  entry(index: number): Entry | undefined;
  appliedTo(index: number): void;
  ready(): RaftReady;
  hasReady(): boolean;
  status(): RaftStatus;
}
