import { describe, expect, it } from 'vitest';
import { breaksMember } from '../../src/scenario/budget.js';
import { resolveTarget, transferTarget } from '../../src/scenario/target.js';
import type { FaultAction, Target } from '../../src/scenario/types.js';

const [r1, r2, r3] = ['r1', 'r2', 'r3'].map((slot) => ({ slot }));
const LIVING = [r1!, r2!, r3!];

function resolved(
  target: Target | null,
  { leader = r1!, frozen = '' }: { leader?: { slot: string } | null; frozen?: string } = {},
): string | null {
  const isFrozen = ({ slot }: { slot: string }): boolean => slot === frozen;
  return resolveTarget(target, { living: LIVING, leader, isFrozen })?.slot ?? null;
}

describe('target: whom a fault means', () => {
  it('leader: the one that serves, or nobody', () => {
    expect(resolved({ kind: 'leader' })).toBe('r1');
    expect(resolved({ kind: 'leader' }, { leader: null })).toBeNull();
  });

  it('follower: the first that does not serve and is not frozen; nobody without a leader', () => {
    expect(resolved({ kind: 'follower' })).toBe('r2');
    expect(resolved({ kind: 'follower' }, { frozen: 'r2' })).toBe('r3');
    expect(resolved({ kind: 'follower' }, { leader: null })).toBeNull();
  });

  it('slot: that one while it lives; the origin is nobody', () => {
    expect(resolved({ kind: 'slot', slot: 'r3' })).toBe('r3');
    expect(resolved({ kind: 'slot', slot: 'r9' })).toBeNull();
    expect(resolved(null)).toBeNull();
  });
});

describe('target: whom a step-down hands over to', () => {
  const memberOf = (slot: string): string => `${slot}.1`;

  it('nobody, the best, or the member of a slot; null for other faults', () => {
    expect(transferTarget({ kind: 'stepDown', to: null }, memberOf)).toBeNull();
    expect(transferTarget({ kind: 'stepDown', to: 'best' }, memberOf)).toBe('best');
    expect(transferTarget({ kind: 'stepDown', to: 'r2' }, memberOf)).toBe('r2.1');
    expect(transferTarget({ kind: 'kill' }, memberOf)).toBeNull();
  });
});

describe('budget: what it counts', () => {
  it('kill and freeze take a member away, the others do not', () => {
    const actions: FaultAction[] = [
      { kind: 'stepDown', to: null },
      { kind: 'kill' },
      { kind: 'freeze', forMs: 1 },
      { kind: 'failPropose', times: 1, code: 'overrun' },
      { kind: 'dropConsumer' },
    ];
    const breaking = actions.filter(breaksMember).map(({ kind }) => kind);
    expect(breaking).toEqual(['kill', 'freeze']);
  });
});
