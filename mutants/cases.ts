/** Public faults of mirrors that go back to how proposals, leadership and skips meet. */
import type { SwarmMutant } from './types.js';

const LEADERSHIP = 'src/raft/leadership.js';
const MIRROR_LEADERSHIP = 'src/mirror/leadership.js';
const PROPOSE = 'const result = this.#ports.propose(term, { count, bytes }, what);';
const OUT_OF_PLACE = ['applied in place', 'state machine safety', 'catch-up', 'mirror: lost'];

export const CASE_MUTANTS: readonly SwarmMutant[] = [
  {
    id: 'A3',
    title: 'skips overtake messages that were proposed before them',
    source: 'nats-server issue 5543',
    edits: [
      {
        file: MIRROR_LEADERSHIP,
        find: PROPOSE,
        replace:
          'let result = { accepted: true };\n' +
          "        if (what !== 'messages') " +
          'result = this.#ports.propose(term, { count, bytes }, what);\n' +
          '        else {\n' +
          '            const late = this.late;\n' +
          '            this.late = { count, bytes };\n' +
          '            if (late !== undefined) result = this.#ports.propose(term, late, what);\n' +
          '        }',
      },
    ],
    fires: ['logged as accepted', ...OUT_OF_PLACE],
  },
  {
    id: 'B1',
    title: 'the counter moves on although the proposal failed',
    source: 'nats-server issue 8057',
    edits: [
      {
        file: MIRROR_LEADERSHIP,
        find: 'const refused = result.accepted ? null : refusal(result.code, proposal);',
        replace:
          "const refused = result.accepted || what === 'messages' " +
          '? null : refusal(result.code, proposal);',
      },
    ],
    fires: ['logged as accepted', 'term fence', ...OUT_OF_PLACE],
    focus: 'skips',
    directed: {
      test: 'test/mirror/cases.test.ts',
      titled: 'a refused message is not masked by skips behind it',
    },
  },
  {
    id: 'B2',
    title: 'a mirror of an earlier leadership goes on proposing, without a fence of terms',
    source: 'nats-server pull request 8370',
    edits: [
      {
        file: 'src/replica/replica.js',
        find: "if (log.role === 'leader' && log.term === this.#servingTerm)",
        replace: "if (log.role !== 'follower' || log.leader === null)",
      },
      {
        file: LEADERSHIP,
        find: "if (term !== this.#state.term)\n            return 'staleTerm';",
        replace: '',
      },
    ],
    // Who leads anew with the mirror of its earlier leadership asks for no opening either.
    fires: ['term fence', 'logged as accepted', 'one consumer', 'asks again', ...OUT_OF_PLACE],
    focus: 'elections',
    within: 300,
  },
  {
    id: 'B3',
    title: 'proposals that wait outlive the leadership that accepted them',
    source: 'nats-server issues 5666 and 7297',
    edits: [
      {
        file: LEADERSHIP,
        find: "return { accepted: true, index: this.#append('batch', batch.count, batch.bytes) };",
        replace:
          '(this.#state.waiting ??= []).push(batch);\n' +
          '        return { accepted: true, index: 0 };',
      },
      {
        file: LEADERSHIP,
        find: 'this.#ticks++;',
        replace:
          'this.#ticks++;\n' +
          '        for (const { count, bytes } of this.#state.waiting?.splice(0) ?? [])\n' +
          "            this.#append('batch', count, bytes);",
      },
    ],
    fires: ['logged as accepted', ...OUT_OF_PLACE],
    focus: 'elections',
    directed: {
      test: 'test/raft/transfer.test.ts',
      titled: 'B3: proposals taken before a step-down',
    },
  },
  {
    id: 'F1',
    title: 'a message is lost and a skip fills its place unseen',
    source: 'nats-server issue 5543 (skips did not check what they follow)',
    edits: [
      {
        file: MIRROR_LEADERSHIP,
        find: PROPOSE,
        replace:
          "const lose = what === 'messages' && first > 1 && first % 97 === 0;\n" +
          '        const result = lose ? { accepted: true } ' +
          ': this.#ports.propose(term, { count, bytes }, what);',
      },
      {
        file: 'src/stream/store.js',
        find:
          'if (expected > this.#last) {\n' +
          '            this.#mismatch(expected, tally);\n            return;\n        }',
        replace: 'if (expected > this.#last) end -= expected - this.#last;',
      },
    ],
    fires: ['logged as accepted', ...OUT_OF_PLACE],
  },
];
