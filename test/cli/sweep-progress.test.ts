/** What a sweep says while it goes on. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SweepProgress } from '../../src/cli/sweep-progress.js';
import { SweepTally } from '../../src/verdict/sweep.js';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function saidOf(isTTY: boolean): { said: string[]; stream: NodeJS.WriteStream } {
  const said: string[] = [];
  const write = (text: string): boolean => said.push(text) > 0;
  return { said, stream: { isTTY, write } as unknown as NodeJS.WriteStream };
}

function tallyOf(...failures: string[]): SweepTally {
  const tally = new SweepTally((seed) => `replay ${seed}`);
  for (const [at, text] of failures.entries()) {
    const failure = { verdict: 'violated', property: 'log matching', text } as const;
    tally.add({ seed: at + 1, failure, simulatedMs: 1_000, cells: {} });
  }
  return tally;
}

describe('cli: progress of a sweep', () => {
  it('a seed that failed is named once, above the line', () => {
    const { said, stream } = saidOf(false);
    {
      using _ = new SweepProgress(stream, tallyOf('r1 \u001b[2J'), 10, 2);
      vi.advanceTimersByTime(10_000);
    }
    const line = expect.stringMatching(
      /^1 of 5 seeds, .* seeds\/s, 1 virtual seconds, 0 cells, 1 failed\n$/,
    );
    const named = 'seed 1 failed: log matching: r1 \\x1b[2J\n';
    expect(said).toEqual([named, line, line]);
  });

  it('a terminal has its line redrawn, and erased at the end', () => {
    const { said, stream } = saidOf(true);
    {
      using _ = new SweepProgress(stream, tallyOf('r1'), null, 1);
      vi.advanceTimersByTime(200);
    }
    expect(said).toEqual([
      '\r\u001b[Kseed 1 failed: log matching: r1\n',
      expect.stringMatching(/^\r\u001b\[K1 seeds, .*1 failed$/),
      '\r\u001b[K',
    ]);
  });
});
