/** One of two files that sweep at the same time, and begin once both are there. */
import { appendFileSync, readFileSync } from 'node:fs';
import { expect, inject, it, vi } from 'vitest';
import type { SweepSubject } from '../../../src/sim/seeds.js';
import { seedsOf, sweep } from '../../../src/sim/sweep.js';
import { SharedCores } from '../../../src/vitest/cores.js';

declare module 'vitest' {
  interface ProvidedContext {
    pool: string;
  }
}

const LOG = process.env['LOG']!;
const name = inject('pool');

it(`sweeps in ${name}`, async () => {
  appendFileSync(LOG, `${name} is there\n`);
  await vi.waitFor(() => expect(readFileSync(LOG, 'utf8').match(/there/g)).toHaveLength(2), {
    ...{ timeout: 20_000, interval: 5 },
  });
  let held = 0;
  await sweep({
    subject: { kind: 'drawn', name } as SweepSubject,
    seeds: seedsOf(1, 120, null),
    cores: 2,
    worker: new URL('worker.js', import.meta.url),
    shared: new SharedCores(2),
    onReport: ({ failure }) => (held += failure === null ? 1 : 0) >= 0,
  });
  expect(held).toBe(120);
}, 30_000);
