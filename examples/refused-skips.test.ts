import { fault, scenario } from 'lockstep';
import { test } from 'lockstep/vitest';

const gaps = [20, 40, 60].map((after) => ({ after, count: 12_000 }));
const faults = [fault.failPropose('leader', { at: '0ms', rate: 0.2, for: '100ms' })];
const origin = { synthetic: { messages: 100, rate: 1_000, gaps } };

for (const [replicas, skip] of [
  [1, 'entries'],
  [3, 'entries'],
  [3, 'range'],
] as const) {
  const refused = scenario('refused skips', { replicas, mirror: { skip }, origin, faults });
  test.sweep(`${replicas}, ${skip}: what is refused is taken back`, refused, { seeds: 5 });
}
