import { defineConfig } from 'vitest/config';

/** Suites that start threads or processes run one file at a time; pure ones side by side. */
const DRIVEN = ['test/threads/**/*.test.ts', 'test/cli/**/*.test.ts'];

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'pure',
          include: ['test/**/*.test.ts'],
          exclude: DRIVEN,
          testTimeout: 30_000,
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
