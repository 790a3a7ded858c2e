/** What looks at members come to, where servers tell no term and where one looks back late. */
import { expect, it } from 'vitest';
import { Observer, type MemberSight } from '../../src/nats/observer.js';
import { FaultBudget } from '../../src/scenario/budget.js';
import type { ClusterEvent } from '../../src/scenario/driver.js';

const LED: MemberSight = {
  role: 'leader',
  term: null,
  state: { first: 1, last: 5, messages: 5, deleted: 0 },
};

it('observer: whoever has not heard of the next leader leads in its own term, and is no leader', () => {
  const events: ClusterEvent[] = [];
  const budget = new FaultBudget(new Int32Array(FaultBudget.wordsFor(0)), 1);
  const observer = new Observer({
    ...{ slots: ['r1', 'r2'], budget, faults: [] },
    ...{ now: () => 0, onEvent: (event: ClusterEvent) => events.push(event) },
  });
  observer.take('r1', LED);
  observer.take('r2', LED);
  observer.take('r1', LED);
  expect(observer.leader()).toBe('r2');
  observer.take('r1', { ...LED, role: 'follower' });
  observer.take('r1', LED);
  expect(observer.leader()).toBe('r1');
  const roles = events.flatMap((each) =>
    each.kind === 'replica' && each.event.kind === 'role'
      ? `${each.slot} ${each.event.role} ${each.event.term}`
      : [],
  );
  expect(roles).toEqual(['r1 leader 1', 'r2 leader 2', 'r1 follower 2', 'r1 leader 3']);
});
