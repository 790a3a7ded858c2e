/** What nats-server pull request 8152 is about: a refused skip, and what must follow from it. */
import type { NamedTest, SwarmMutant } from './types.js';

const OPENING = 'src/mirror/opening.js';
const MIRROR = 'src/mirror/mirror.js';
const SOURCE = 'nats-server pull request 8152';
const SKIP_REFUSED =
  'if (refused !== null)\n            return this.#refused(cause, refused, proposal);';

const REFUSED: NamedTest = { test: 'test/mirror/skip.test.ts', titled: 'mirror: gap: refused as' };

const SWALLOWED = ['refusal restores', 'applied in place', 'catch-up', 'mirror: lost'];

function swallowedOn(id: string, path: 'direct' | 'range' | 'entries'): SwarmMutant {
  return {
    id,
    title: `a refused skip counts as done, on the path ${path}`,
    source: SOURCE,
    edits: [
      {
        file: OPENING,
        find: SKIP_REFUSED,
        replace: SKIP_REFUSED.replace('!== null', `!== null && this.#around.skip !== '${path}'`),
      },
    ],
    fires: SWALLOWED,
    focus: 'skips',
    within: 200,
    directed: REFUSED,
  };
}

export const PULL_8152_MUTANTS: readonly SwarmMutant[] = [
  swallowedOn('P1a', 'direct'),
  swallowedOn('P1b', 'range'),
  swallowedOn('P1c', 'entries'),
  {
    id: 'P2a',
    title: 'the cursor is not taken back when a skip is refused',
    source: SOURCE,
    edits: [
      {
        file: OPENING,
        find: SKIP_REFUSED,
        replace:
          'if (refused !== null) {\n' +
          '            this.#cursor = { ...this.#cursor, seq: proposal.last };\n' +
          '            return this.#refused(cause, refused, proposal);\n        }',
      },
    ],
    fires: ['refusal restores'],
    focus: 'skips',
    directed: REFUSED,
  },
  {
    id: 'P2b',
    title: 'the cursor is not taken back when a message is refused',
    source: SOURCE,
    edits: [
      {
        file: OPENING,
        find: "return this.#refused('messageRefused', refused, proposal);",
        replace:
          '{ this.#cursor = { ...this.#cursor, seq: run.last };\n' +
          "            return this.#refused('messageRefused', refused, proposal); }",
      },
    ],
    fires: ['refusal restores'],
    focus: 'skips',
  },
  {
    id: 'P3a',
    title: 'the lag is not taken back',
    source: SOURCE,
    edits: [
      {
        file: MIRROR,
        find: 'if (undone !== null) {',
        replace: 'if (undone !== null) {\n            this.#lag.opened(this.#lag.value + 1);',
      },
    ],
    fires: ['refusal restores'],
    focus: 'skips',
  },
  {
    id: 'P3b',
    title: 'the delivery number is not taken back',
    source: SOURCE,
    edits: [
      {
        file: OPENING,
        find: 'const undone = { from: this.#reached(), to };',
        replace:
          'const undone = { from: this.#reached(), ' +
          'to: { ...to, deliverySeq: to.deliverySeq + 1 } };',
      },
    ],
    fires: ['refusal restores'],
    focus: 'skips',
  },
  {
    id: 'P5',
    title: 'the mirror is gone while a message is in hand: crash',
    source: SOURCE,
    edits: [
      {
        file: MIRROR,
        find: 'if (this.#live === null || !sameOpening',
        replace: 'if (!sameOpening',
      },
    ],
    fires: ['replica assertion'],
  },
];
