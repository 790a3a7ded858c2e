/**
 * Waits that a test with a cluster began and did not await: the test would pass whatever came of
 * them, so it fails itself, and says which one.
 */
import type { TestContext } from 'vitest';
import type { Waits } from '../kit/waits.js';

type Task = TestContext['task'];

const watched = new WeakMap<object, Waits>();

/** From here on what is forgotten in this test is told by `forgottenIn`. */
export function watch(task: Task, waits: Waits): void {
  waits.tell();
  watched.set(task, waits);
}

export function forgottenIn(task: Task): string[] {
  const lines = watched.get(task)?.forgotten() ?? [];
  return lines.map((line) => `${line} (test "${task.name}")`);
}

/**
 * A matcher's answer, of which vitest makes the promise that the test gets by calling `then`.
 *
 * @param task  undefined: of no test
 */
export function awaitable<T>(
  name: string,
  task: object | undefined,
  answer: Promise<T>,
): Promise<T> {
  const waits = task === undefined ? undefined : watched.get(task);
  if (waits === undefined) return answer;
  const thenable: Pick<Promise<T>, 'then'> = {
    then: (onValue, onError) => waits.add(name, answer.then(onValue, onError)),
  };
  return thenable as Promise<T>;
}
