/**
 * Bugs that named tests find: of the checks themselves (H1 to H6), and those that a second line of
 * defence hides from every run of the whole (X5, P4).
 */
import type { TestedMutant } from './types.js';

export const TESTED_MUTANTS: readonly TestedMutant[] = [
  {
    id: 'X5',
    title: 'a proposal of an earlier or a later term is accepted',
    source: 'nats-server pull request 8370',
    edits: [
      {
        file: 'src/raft/leadership.js',
        find: "if (term !== this.#state.term)\n            return 'staleTerm';",
        replace: '',
      },
    ],
    test: 'test/raft/propose.test.ts',
    titled: 'staleTerm',
  },
  {
    id: 'P4',
    title: 'nothing is asked again after a message that the store holds already',
    source: 'nats-server pull request 8152',
    edits: [
      {
        file: 'src/mirror/mirror.js',
        find: 'if (SETUP_CAUSES.has(cause))',
        replace: "if (cause === 'mismatch') return;\n        if (SETUP_CAUSES.has(cause))",
      },
    ],
    test: 'test/mirror/cases.test.ts',
    titled: 'cursor 4, store at 5',
  },
  {
    id: 'H1',
    title: 'a cut that is told to have fallen cuts nothing',
    source: 'jepsen: a nemesis that does nothing',
    edits: [
      {
        file: 'src/sim/swarm-network.js',
        find: 'this.#cut(nodes[from], nodes[to], forMs);',
        replace: ';',
      },
    ],
    test: 'test/sim/faults-seen.test.ts',
    titled: 'is seen in the world',
  },
  {
    id: 'H2',
    title: 'what is unknown is left out of the count',
    source: 'jepsen: info operations dropped from a history',
    edits: [
      {
        file: 'src/verdict/differences.js',
        find: 'this.#counted.unknown.add(range.first, range.last);',
        replace: 'void range;',
      },
    ],
    test: 'test/verdict/judge.test.ts',
    titled: 'content that nobody kept',
  },
  {
    id: 'H3',
    title: 'what is unknown counts as failed',
    source: 'jepsen: an unknown outcome taken for a failure',
    edits: [
      {
        file: 'src/verdict/judge.js',
        find: 'if (allowed.length === 0) {',
        replace: 'if (allowed.length < 0) {',
      },
    ],
    test: 'test/verdict/judge.test.ts',
    titled: 'content that nobody kept',
  },
  {
    id: 'H4',
    title: 'nothing is checked once the cluster was healed',
    source: 'a liveness check that ends with the faults',
    edits: [
      {
        file: 'src/sim/swarm-run.js',
        find: 'while (!outcome.isDone() && !isOver()) {',
        replace: 'while (false) {',
      },
    ],
    test: 'test/sim/swarm.test.ts',
    titled: 'a core without a majority stalls',
  },
  {
    id: 'H5',
    title: 'what falls into one moment happens in any order',
    source: 'a scheduler with an order that no seed draws',
    edits: [
      {
        file: 'src/sim/agenda.js',
        find: 'a.order < b.order',
        replace: 'Math.random() < 0.5',
      },
    ],
    test: 'test/sim/swarm.test.ts',
    titled: 'same seed -> same plan',
  },
  {
    id: 'H6',
    title: 'a shrunk script shows another violation than the one that was shrunk',
    source: 'jepsen and shuttle: a smaller history with another anomaly',
    edits: [
      {
        file: 'src/sim/explicit.js',
        find: 'if (verdict !== expected.verdict || property !== expected.property)',
        replace: 'if (verdict !== expected.verdict)',
      },
    ],
    test: 'test/sim/shrink.test.ts',
    titled: 'another property',
  },
];
