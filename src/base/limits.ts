/**
 * Every bound of lockstep in one place, with the relations between them checked at load. Raft runs
 * in unscaled ticks; mirror constants are upstream's (nats-server stream.go) in milliseconds and
 * are multiplied by the run's time scale.
 */
import { invariant } from './errors.js';

/** Highest sequence that a JavaScript number holds exactly; checked at every border. */
export const SEQ_MAX = Number.MAX_SAFE_INTEGER;

export const TICK_MS = 10;
export const HEARTBEAT_TICKS = 5;
export const ELECTION_TICKS_MIN = 20;
export const ELECTION_TICKS_MAX = 40;

/** Commands in one batch. nats-server flushes at 10,001; here the bound is exact. */
export const BATCH_COUNT_MAX = 10_000;
export const BATCH_BYTES_MAX = 4 * 1024 * 1024;
export const UNCOMMITTED_BYTES_MAX = 32 * 1024 * 1024;
/** Append messages on their way to one follower. */
export const INFLIGHT_APPENDS_MAX = 64;
export const INFLIGHT_BYTES_MAX = 16 * 1024 * 1024;
/** Bytes of entries in one append message; a single larger entry still travels alone. */
export const APPEND_BYTES_MAX = 4 * 1024 * 1024;
/** Entries that a log keeps; beyond it proposals are refused as `overrun`. */
export const LOG_ENTRIES_MAX = 1 << 21;

/** Size of one encoded message command, headers and padding included. */
export const RECORD_BYTES_MAX = 2 * 1024 * 1024;

/** Bounds of one host turn. */
export const TURN_MESSAGES_MAX = 256;
export const TURN_BYTES_MAX = 8 * 1024 * 1024;

/** What an origin may have under way to one opening before credit comes back. */
export const ORIGIN_WINDOW_MESSAGES = 65_536;
export const ORIGIN_WINDOW_BYTES = 16 * 1024 * 1024;
export const ORIGIN_FRAME_MESSAGES_MAX = 4_096;

/** Sequences in one block of the judge's digests. */
export const DIGEST_BLOCK = 1_024;

/** Faults of one scenario, each stroke of a repeated one counted. */
export const FAULTS_MAX = 10_000;

/** Files that a user names: a scenario, and any other such as what natscli printed of a stream. */
export const SCENARIO_BYTES_MAX = 4 * 1024 * 1024;
export const INPUT_BYTES_MAX = 64 * 1024 * 1024;

export const SEGMENT_BYTES_MAX = 64 * 1024 * 1024;

/** nats-server stream.go: sourceConsumerRetryThreshold. */
export const MIRROR_GATE_MS = 2_000;
export const MIRROR_JITTER_MIN_MS = 100;
export const MIRROR_JITTER_MAX_MS = 200;
/** nats-server stream.go: calculateRetryBackoff, 10 s a failure up to 120 s. */
export const MIRROR_BACKOFF_MS = 10_000;
export const MIRROR_BACKOFF_MAX_MS = 120_000;
/** nats-server stream.go: sourceHealthCheckInterval. */
export const MIRROR_SILENCE_MS = 10_000;
/** nats-server stream.go: srcConsumerWaitTime. */
export const MIRROR_CREATE_WAIT_MS = 30_000;
/** nats-server stream.go: sourceHealthHB. */
export const ORIGIN_HEARTBEAT_MS = 1_000;

invariant(HEARTBEAT_TICKS * 3 <= ELECTION_TICKS_MIN, 'three heartbeats fit an election timeout');
invariant(ELECTION_TICKS_MIN < ELECTION_TICKS_MAX, 'election timeouts are randomised');
invariant(BATCH_BYTES_MAX < UNCOMMITTED_BYTES_MAX, 'a batch fits the uncommitted window');
invariant(RECORD_BYTES_MAX <= BATCH_BYTES_MAX, 'every record fits a batch');
invariant(RECORD_BYTES_MAX <= ORIGIN_WINDOW_BYTES, 'every record fits the window of an origin');
invariant(BATCH_BYTES_MAX <= INFLIGHT_BYTES_MAX, 'a batch fits the window of a follower');
invariant(MIRROR_GATE_MS < MIRROR_SILENCE_MS, 'a gate is shorter than the silence limit');
