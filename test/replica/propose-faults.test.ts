import { describe, expect, it } from 'vitest';
import { createPrng } from '../../src/base/prng.js';
import { ProposeFaults } from '../../src/replica/propose-faults.js';

function taken(faults: ProposeFaults, count: number): (string | null)[] {
  return Array.from({ length: count }, () => faults.take());
}

describe('propose faults', () => {
  it('none is armed: nothing is refused', () => {
    expect(taken(new ProposeFaults(createPrng(1)), 3)).toEqual([null, null, null]);
  });

  it('counts add up, in the order in which they were armed', () => {
    const faults = new ProposeFaults(createPrng(1));
    faults.arm({ type: 'failPropose', count: 2, code: 'overrun' });
    faults.arm({ type: 'failPropose', count: 1, code: 'writeFailed' });
    expect(taken(faults, 4)).toEqual(['overrun', 'overrun', 'writeFailed', null]);
  });

  it('chances add up, and each takes back what it added', () => {
    const faults = new ProposeFaults(createPrng(1));
    const code = 'overrun';
    faults.arm({ type: 'failByChance', perMillion: 400_000, code });
    faults.arm({ type: 'failByChance', perMillion: 600_000, code });
    expect(taken(faults, 50)).toEqual(Array(50).fill(code));
    faults.arm({ type: 'failByChance', perMillion: -600_000, code });
    const refused = taken(faults, 500).filter((each) => each !== null).length;
    expect(refused).toBeGreaterThan(150);
    expect(refused).toBeLessThan(250);
    faults.arm({ type: 'failByChance', perMillion: -400_000, code });
    expect(taken(faults, 50)).toEqual(Array(50).fill(null));
  });

  it('overrun: beyond so many, the least of those armed, and once', () => {
    const faults = new ProposeFaults(createPrng(1));
    faults.arm({ type: 'overrun', entries: 9 });
    faults.arm({ type: 'overrun', entries: 5 });
    faults.arm({ type: 'overrun', entries: 7 });
    expect([5, 6, 6].map((unapplied) => faults.takeOverrun(unapplied))).toEqual([
      ...[false, true, false],
    ]);
  });

  it('no more: nothing is left armed', () => {
    const faults = new ProposeFaults(createPrng(1));
    faults.arm({ type: 'failPropose', count: 2, code: 'overrun' });
    faults.arm({ type: 'failByChance', perMillion: 1_000_000, code: 'writeFailed' });
    faults.arm({ type: 'overrun', entries: 0 });
    faults.arm({ type: 'failNoMore' });
    expect([...taken(faults, 2), faults.takeOverrun(9)]).toEqual([null, null, false]);
  });
});
