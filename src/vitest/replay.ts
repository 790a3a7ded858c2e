/** The command that runs one test again, with the seed and the driver that it had. */
import type { TestContext } from 'vitest';
import { quoted } from '../report/text.js';

type Task = TestContext['task'];

export function replayOf(task: Task, on: string, seed: number | string): string {
  const names: string[] = [];
  for (let each: Task | Task['suite'] = task; each !== undefined; each = each.suite) {
    if (each !== task.file) names.unshift(each === task ? ownName(task) : each.name);
  }
  const pattern = `^${names.join(' ').replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`;
  const words = ['npx', 'vitest', 'run', task.file.name, '-t', pattern];
  return [`LOCKSTEP_SEED=${seed}`, `LOCKSTEP_ON=${on}`, ...words.map(quoted)].join(' ');
}

/** Without what a test that is played under many seeds has behind its name. */
function ownName({ name, meta }: Task): string {
  return meta.lockstep === undefined
    ? name
    : name.replace(/( \(\d+ of \d+ seeds\))?( again)?$/, '');
}
