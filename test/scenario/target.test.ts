import { describe, expect, it } from 'vitest';
import { breaksMember } from '../../src/scenario/budget.js';
import { resolveStruck, resolveTarget, transferTarget } from '../../src/scenario/target.js';
import type { FaultAction, MemberAction, Target } from '../../src/scenario/types.js';

const [r1, r2, r3] = ['r1', 'r2', 'r3'].map((slot) => ({ slot }));
const LIVING = [r1!, r2!, r3!];

function resolved(
  target: Target | null,
  { leader = r1!, frozen = '' }: { leader?: { slot: string } | null; frozen?: string } = {},
): string | null {
  const isFrozen = ({ slot }: { slot: string }): boolean => slot === frozen;
  const lasts: Readonly<Record<string, number>> = { r1: 9, r2: 5, r3: 7 };
  const lastOf = ({ slot }: { slot: string }): number => lasts[slot]!;
  const draw = (bound: number): number => bound - 1;
  return resolveTarget(target, { living: LIVING, leader, isFrozen, lastOf, draw })?.slot ?? null;
}

describe('target: whom a fault means', () => {
  it('what only a leader can suffer: nobody else, nor a leader that is frozen', () => {
    const struck = (
      kind: 'stepDown' | 'flap' | 'kill',
      slot: string,
      frozen = '',
    ): string | null => {
      const action: MemberAction = kind === 'stepDown' ? { kind, to: 'best' } : { kind };
      const isFrozen = (member: { slot: string }): boolean => member.slot === frozen;
      const members = { living: LIVING, leader: r1!, isFrozen, lastOf: () => 0, draw: () => 0 };
      return resolveStruck(action, { kind: 'slot', slot }, members)?.slot ?? null;
    };
    expect([struck('stepDown', 'r1'), struck('flap', 'r1')]).toEqual(['r1', 'r1']);
    expect([struck('stepDown', 'r2'), struck('flap', 'r2')]).toEqual([null, null]);
    expect([struck('stepDown', 'r1', 'r1'), struck('kill', 'r1', 'r1')]).toEqual([null, 'r1']);
    expect(struck('kill', 'r2')).toBe('r2');
  });

  it('leader: the one that serves, or nobody', () => {
    expect(resolved({ kind: 'leader' })).toBe('r1');
    expect(resolved({ kind: 'leader' }, { leader: null })).toBeNull();
  });

  it('follower: the first that does not serve and is not frozen; nobody without a leader', () => {
    const first: Target = { kind: 'follower', which: 'first' };
    expect(resolved(first)).toBe('r2');
    expect(resolved(first, { frozen: 'r2' })).toBe('r3');
    expect(resolved(first, { leader: null })).toBeNull();
  });

  it('follower: the one that holds least, or most; frozen ones aside', () => {
    const lagging: Target = { kind: 'follower', which: 'lagging' };
    const ahead: Target = { kind: 'follower', which: 'ahead' };
    expect([resolved(lagging), resolved(ahead)]).toEqual(['r2', 'r3']);
    expect([resolved(lagging, { leader: r2! }), resolved(ahead, { leader: r2! })]).toEqual([
      ...['r3', 'r1'],
    ]);
    expect(resolved(lagging, { frozen: 'r2' })).toBe('r3');
  });

  it('any: a living one that is drawn', () => {
    expect(resolved({ kind: 'any' })).toBe('r3');
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
  it('what ends or freezes a member takes it away, the others do not', () => {
    const actions: FaultAction[] = [
      { kind: 'stepDown', to: null },
      { kind: 'kill' },
      { kind: 'freeze', forMs: 1 },
      { kind: 'failPropose', dose: { times: 1 }, code: 'overrun' },
      { kind: 'outOfMemory' },
      { kind: 'failWrites' },
      { kind: 'failSync', restartMs: 5 },
      { kind: 'tornTail' },
      { kind: 'wipe' },
      { kind: 'overrun', entries: 0 },
      { kind: 'slow', byMs: 5, forMs: 1 },
      { kind: 'slowDisk', byMs: 5, forMs: 1 },
      { kind: 'clockRate', factor: 2, forMs: 1 },
      { kind: 'dropConsumer' },
    ];
    const breaking = actions.filter(breaksMember).map(({ kind }) => kind);
    expect(breaking).toEqual([
      ...['kill', 'freeze', 'outOfMemory', 'failWrites', 'failSync', 'tornTail', 'wipe'],
    ]);
  });
});
