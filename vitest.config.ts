/** Tests: pure suites side by side; those that start threads or processes after them, in a row. */
import { defineConfig } from 'vitest/config';

const DRIVEN = ['threads', 'cli', 'nats', 'conformance', 'vitest', 'examples'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'pure',
          include: ['test/**/*.test.ts'],
          exclude: DRIVEN,
          testTimeout: 30_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'driven',
          include: DRIVEN,
          fileParallelism: false,
          testTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
