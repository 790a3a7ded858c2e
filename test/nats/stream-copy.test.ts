/** Copies of streams on servers, as a run reports them. */
import { expect, it } from 'vitest';
import { StreamCopy } from '../../src/nats/stream-copy.js';
import { hasher } from './stage.js';

it.each([
  ['never filled', { first: 0, last: 0, messages: 0, deleted: 0 }],
  ['emptied', { first: 11, last: 10, messages: 0, deleted: 0 }],
])('an empty stream, %s: no gap', (_, state) => {
  expect(new StreamCopy(hasher).report(state)).toMatchObject({ state, gaps: [] });
});

it('what it says that it holds, and was not found, is a gap', () => {
  const state = { first: 3, last: 5, messages: 3, deleted: 0 };
  expect(new StreamCopy(hasher).report(state).gaps).toEqual([{ first: 3, last: 5 }]);
});
