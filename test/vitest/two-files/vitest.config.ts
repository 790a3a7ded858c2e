/** The same file as a child process and as a thread of one vitest, side by side. */
import { defineConfig } from 'vitest/config';

const projects = (['forks', 'threads'] as const).map((pool) => ({
  test: { name: pool, pool, include: ['*.sweep.ts'], provide: { pool } },
}));

export default defineConfig({ root: import.meta.dirname, test: { maxWorkers: 2, projects } });
