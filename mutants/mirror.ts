/** Bugs of the mirror and of applying: what reaches a store, in what order, how often. */
import type { SwarmMutant } from './types.js';

const MIRROR = 'src/mirror/mirror.js';
const OPENING = 'src/mirror/opening.js';
const REPLICA = 'src/replica/replica.js';
const STORE = 'src/stream/store.js';

/** What a copy that is not the origin's shows as. */
const UNLIKE_ORIGIN = [
  'applied in place',
  'state machine safety',
  'catch-up',
  'mirror: lost',
  'mirror: phantom',
  'mirror: corrupt',
  'mirror: reordered',
  'mirror: duplicated',
  'mirror: state',
  'replica assertion',
];

export const MIRROR_MUTANTS: readonly SwarmMutant[] = [
  {
    id: 'X1',
    title: 'messages behind a gap are numbered anew',
    source: 'docs/mirror.md: same sequences, gaps at the same places',
    edits: [
      {
        file: OPENING,
        find: 'return this.#beginSkip(seq - 1, false);',
        replace: 'return this.#takeNext(seq, seq - 1);',
      },
      {
        file: STORE,
        find: 'expectedOf(view, at) !== before + count',
        replace: 'expectedOf(view, at) < before + count',
      },
    ],
    fires: UNLIKE_ORIGIN,
  },
  {
    id: 'X2',
    title: 'a message is skipped when the consumer is made again',
    source: 'nats-server stream.go, setupMirrorConsumer (start sequence)',
    edits: [
      {
        file: OPENING,
        find: 'this.startSeq = last + 1;',
        replace: 'this.startSeq = last + (opening.generation > 1 ? 2 : 1);',
      },
    ],
    fires: UNLIKE_ORIGIN,
  },
  {
    id: 'X3',
    title: 'what the store has seen already is applied again',
    source: 'nats-server pull request 8045',
    edits: [{ file: STORE, find: 'if (end <= this.#last) {', replace: 'if (end < 0) {' }],
    fires: UNLIKE_ORIGIN,
  },
  {
    id: 'X4',
    title: 'an origin that starts beyond the mirror stalls it',
    source: 'nats-server TestJetStreamStalledMirrorsAfterExpire',
    edits: [
      {
        file: 'src/mirror/answer.js',
        find: 'if (startsAfter < context.startSeq - 1) {',
        replace: 'if (startsAfter !== context.startSeq - 1) {',
      },
    ],
    fires: UNLIKE_ORIGIN,
  },
  {
    id: 'X6',
    title: 'a restart loses the last entry of the journal',
    source: 'nats-server pull request 7620 (log boundaries)',
    edits: [
      {
        file: 'src/raft/state.js',
        find: 'journal?.entries ?? []',
        replace: '(journal?.entries ?? []).slice(0, -1)',
      },
    ],
    fires: [
      'leader append-only',
      'votes for newer logs',
      'leader completeness',
      'committed immutable',
      'committed on quorum',
      ...UNLIKE_ORIGIN,
    ],
  },
  {
    id: 'X7',
    title: 'entries are applied before they are committed',
    source: 'raft paper, figure 2',
    edits: [
      {
        file: REPLICA,
        find: 'const end = Math.min(log.commit, log.durableIndex);',
        replace: 'const end = log.durableIndex;',
      },
    ],
    fires: ['monotonic', ...UNLIKE_ORIGIN],
  },
  {
    id: 'X8',
    title: 'followers apply the commands of an entry otherwise than the leader',
    source: 'raft paper, section 2: deterministic state machines',
    edits: [
      {
        file: REPLICA,
        find: 'this.store.apply(entry.bytes, entry.count)',
        replace:
          "this.store.apply(entry.bytes, this.#log.role === 'leader' " +
          '? entry.count : Math.min(entry.count, 1))',
      },
    ],
    fires: UNLIKE_ORIGIN,
  },
  {
    id: 'X10',
    title: 'the mirror is opened before the own no-op is applied',
    source: 'docs/mirror.md, rule 8; raft paper, section 8',
    edits: [
      {
        file: REPLICA,
        find: "if (this.#direct && log.role === 'leader')",
        replace: "if (log.role === 'leader')",
      },
    ],
    fires: ['own no-op first', ...UNLIKE_ORIGIN],
  },
  {
    id: 'X11',
    title: 'the lag moves when messages are accepted, not when they are applied',
    source: 'docs/mirror.md, rule 3',
    edits: [
      {
        file: 'src/mirror/lag.js',
        find: 'this.#accepted.push({ last, behind });',
        replace: 'this.#value = behind;',
      },
    ],
    fires: ['applied lag', 'refusal restores'],
  },
  {
    id: 'X12',
    title: 'the lag does not move when messages are applied',
    source: 'nats-server stream.go, processInboundMirrorMsg (mirror lag)',
    edits: [{ file: 'src/mirror/lag.js', find: 'this.#value = batch.behind;', replace: '' }],
    fires: ['applied lag'],
  },
  {
    id: 'X13',
    title: 'an opening is closed and the origin keeps its consumer',
    source: 'nats-server stream.go, cancelMirrorConsumer',
    edits: [
      {
        file: MIRROR,
        find: "this.#outbox.command({ type: 'close', opening });",
        replace: '',
      },
    ],
    fires: ['one consumer'],
  },
  {
    id: 'X14',
    title: 'the identity of the origin is not logged',
    source: 'docs/mirror.md, rule 12',
    edits: [
      {
        file: OPENING,
        find: 'this.#identified = ports.storeIdentity() !== null;',
        replace: 'this.#identified = true;',
      },
    ],
    fires: ['identity first', ...UNLIKE_ORIGIN],
  },
  {
    id: 'X15',
    title: 'set-ups that fail again and again are tried without a backoff',
    source: 'nats-server stream.go, calculateRetryBackoff',
    edits: [
      { file: MIRROR, find: 'this.#pacing.attempts++;', replace: 'this.#pacing.attempts = 0;' },
    ],
    fires: ['retry pacing'],
  },
  {
    id: 'X16',
    title: 'after a loss or a mismatch the mirror waits as if a set-up had failed',
    source: 'nats-server pull request 8152 (retry only by the health check, 10 s later)',
    edits: [
      {
        file: MIRROR,
        find: 'if (SETUP_CAUSES.has(cause))',
        replace: 'if (true)',
      },
    ],
    fires: ['asks again'],
  },
  {
    id: 'X17',
    title: 'deliveries of an older opening are taken in',
    source: 'docs/mirror.md, rule 7; nats-server stream.go, processMirrorMsgs',
    edits: [
      {
        file: MIRROR,
        find: 'if (this.#live === null || !sameOpening(frame.opening, this.#live.opening))',
        replace:
          'if (this.#live === null || ' +
          "(frame.type !== 'deliver' && !sameOpening(frame.opening, this.#live.opening)))",
      },
    ],
    fires: ['own opening', ...UNLIKE_ORIGIN],
  },
  {
    id: 'X18',
    title: 'answers, refusals and beats of an older opening are taken for those of the live one',
    source: 'case E2; nats-server stream.go, setupMirrorConsumer (a late answer)',
    edits: [
      {
        file: MIRROR,
        find: 'if (this.#live === null || !sameOpening(frame.opening, this.#live.opening))',
        replace:
          'if (this.#live === null || ' +
          "(frame.type === 'deliver' && !sameOpening(frame.opening, this.#live.opening)))",
      },
    ],
    fires: ['own opening', ...UNLIKE_ORIGIN],
    directed: {
      test: 'test/mirror/leadership.test.ts',
      titled: 'late frames of the opening before',
    },
  },
  {
    id: 'X19',
    title: 'an answer that starts before what was asked for is taken',
    source: 'docs/mirror.md, rule 10; nats-server commit 61e59f526',
    edits: [
      {
        file: 'src/mirror/answer.js',
        find: 'if (startsAfter < context.startSeq - 1)',
        replace: 'if (false)',
      },
    ],
    fires: ['own opening', ...UNLIKE_ORIGIN],
    within: 200,
    directed: { test: 'test/mirror/setup.test.ts', titled: 'starts below what was asked' },
  },
  {
    id: 'X20',
    title: 'a transfer that came to nothing leaves the mirror closed',
    source: 'docs/mirror.md, rule 4',
    edits: [{ file: MIRROR, find: 'if (waits && this.#mayOpen())', replace: 'if (false)' }],
    fires: ['asks again', 'catch-up'],
    focus: 'elections',
    within: 400,
  },
];
