import { fault, scenario } from 'lockstep';
import { test } from 'lockstep/vitest';

const gaps = Array.from({ length: 20 }, (_, at) => ({ after: at + 1, count: 500 }));
const origin = { synthetic: { messages: 50, rate: 1_000, gaps } };
const faults = [fault.failPropose('leader', { at: '0ms', rate: 0.2, for: '1s' })];

for (const [replicas, skip] of [
  [1, 'entries'],
  [3, 'entries'],
  [3, 'range'],
] as const) {
  const refused = scenario('refused skips', { replicas, mirror: { skip }, origin, faults });
  test.sweep(`${replicas}, ${skip}: what is refused is taken back`, refused, { seeds: 10 });
}
