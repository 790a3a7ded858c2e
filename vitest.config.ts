/**
 * Tests: pure suites side by side; those that start threads or processes after them, in a row. Runs
 * on clusters of real servers take minutes: `npm test` leaves them out, `npm run nats` plays them.
 */
import { defineConfig } from 'vitest/config';

const DRIVEN = ['threads', 'cli', 'nats', 'conformance', 'vitest', 'examples'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);

const SERVERS = ['nats-driver', 'servers'].map((folder) => `test/${folder}/**/*.test.ts`);

/** Why suites of real servers are skipped, if they are. */
const TELL = 'test/nats/setup.ts';

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'pure',
          include: ['test/**/*.test.ts'],
          exclude: [...DRIVEN, ...SERVERS],
          testTimeout: 30_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'driven',
          include: DRIVEN,
          globalSetup: TELL,
          fileParallelism: false,
          testTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'servers',
          include: SERVERS,
          globalSetup: TELL,
          fileParallelism: false,
          testTimeout: 300_000,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
