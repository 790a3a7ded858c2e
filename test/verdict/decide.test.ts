import { describe, expect, it } from 'vitest';
import { decide } from '../../src/verdict/decide.js';
import { EXIT, EXIT_USAGE, type Reason } from '../../src/verdict/types.js';

const ORDER = ['violated', 'harness', 'stalled', 'inconclusive', 'uncovered'] as const;

describe('verdict: decide', () => {
  it('no reason: held', () => {
    expect(decide([])).toBe('held');
  });

  it('the gravest reason decides, in whatever order they come', () => {
    for (let from = 0; from < ORDER.length; from++) {
      const reasons: Reason[] = ORDER.slice(from).map((verdict) => ({ verdict, text: verdict }));
      expect(decide(reasons)).toBe(ORDER[from]);
      expect(decide([...reasons].reverse())).toBe(ORDER[from]);
    }
  });

  it('exit codes', () => {
    expect({ ...EXIT, usage: EXIT_USAGE }).toEqual({
      held: 0,
      violated: 1,
      inconclusive: 2,
      stalled: 3,
      uncovered: 4,
      usage: 64,
      harness: 70,
    });
  });
});
