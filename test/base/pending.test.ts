import { describe, expect, it } from 'vitest';
import { Pending } from '../../src/base/pending.js';

describe('base: pending', () => {
  it('drain: everything since the last call, in order; nothing again', () => {
    const pending = new Pending<string>();
    expect([pending.isEmpty, pending.drain()]).toEqual([true, []]);
    for (const item of ['a', 'b', 'c']) pending.push(item);
    expect(pending.isEmpty).toBe(false);
    expect(pending.drain()).toEqual(['a', 'b', 'c']);
    expect([pending.isEmpty, pending.drain()]).toEqual([true, []]);
  });

  it('what was drained stays as it was, an empty one too', () => {
    const pending = new Pending<string>();
    const none = pending.drain();
    pending.push('a');
    const first = pending.drain();
    pending.push('b');
    pending.clear();
    pending.push('c');
    expect([none, first, pending.drain()]).toEqual([[], ['a'], ['c']]);
  });
});
