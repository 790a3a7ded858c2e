/** Files that are left behind, by several at once. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';

const ROUNDS = 200;

/** Makes a folder in each round, together with the other one. */
const WRITER = `
  import { workerData } from 'node:worker_threads';
  const { gate, root, name, output } = workerData;
  const { writeLines } = await import(output);
  for (let round = 1; round <= ${ROUNDS}; round++) {
    Atomics.add(gate, 0, 1);
    while (Atomics.load(gate, 0) < 2 * round);
    writeLines(root + '/' + round + '/a/b', name, ['x']);
  }
`;

it('a folder that two make at the same moment is there for both', async () => {
  const root = mkdtempSync(join(tmpdir(), 'lockstep-'));
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const output = new URL('../../dist/src/kit/output.js', import.meta.url).href;
  const script = new URL(`data:text/javascript,${encodeURIComponent(WRITER)}`);
  const ended = ['one', 'other'].map((name) => {
    const writer = new Worker(script, { workerData: { gate, root, name, output } });
    // Whoever fails would keep the other one waiting.
    writer.once('error', () => Atomics.store(gate, 0, 2 * ROUNDS));
    return new Promise((resolve) => writer.once('exit', resolve));
  });
  try {
    expect(await Promise.all(ended)).toEqual([0, 0]);
    expect(readdirSync(join(root, String(ROUNDS), 'a', 'b'))).toEqual(['one', 'other']);
  } finally {
    rmSync(root, { recursive: true });
  }
});
