import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { SharedCores, type CoresOptions } from '../../src/vitest/cores.js';

const dir = mkdtempSync(join(tmpdir(), 'lockstep-cores-'));
afterAll(() => rmSync(dir, { recursive: true }));

const { signal } = new AbortController();
let runs = 0;

/** Workers of one vitest with so many cores together. */
function workers(count: number, options: CoresOptions = {}): [SharedCores, SharedCores] {
  const run = `${process.pid}-${runs++}`;
  return [new SharedCores(count, { run, ...options }), new SharedCores(count, { run, ...options })];
}

describe('vitest: cores', () => {
  it('no more than there are, whoever takes them; one that is given back is taken', async () => {
    const [one, other] = workers(2);
    const first = await one.take(signal);
    const second = await other.take(signal);
    const order: string[] = [];
    const third = one.take(signal).then((core) => {
      order.push('third');
      return core;
    });
    await new Promise(setImmediate);
    order.push('given back');
    second[Symbol.dispose]();
    using _third = await third;
    first[Symbol.dispose]();
    expect(order).toEqual(['given back', 'third']);
  });

  it('who holds the only one and wants it again lets another go first', async () => {
    const [one, other] = workers(1);
    const order: string[] = [];
    const play = async (cores: SharedCores, name: string): Promise<void> => {
      for (let turn = 0; turn < 6; turn++) {
        using _core = await cores.take(signal);
        order.push(name);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    await Promise.all([play(one, 'a'), play(other, 'b')]);
    const switches = order.filter((name, at) => at > 0 && name !== order[at - 1]);
    expect(switches.length).toBeGreaterThan(2);
  });

  it('none comes in time: it goes on with one of its own, and does not wait again', async () => {
    const [one, other] = workers(1, { waitMs: 30 });
    using _core = await one.take(signal);
    const own = await other.take(signal);
    own[Symbol.dispose]();
    expect(await other.take(signal)).toBe(own);
  });

  it('a wait ends with its signal', async () => {
    const [one, other] = workers(1);
    using _core = await one.take(signal);
    const abort = new AbortController();
    const waiting = other.take(abort.signal);
    abort.abort(new Error('over'));
    await expect(waiting).rejects.toThrow('over');
  });

  it('a process that is killed gives its cores back', async () => {
    const [one] = workers(1);
    const path = join(tmpdir(), `lockstep-${process.pid}-${runs - 1}-core-0`);
    const script = `require('net').createServer().listen(${JSON.stringify(path)}, () => console.log())`;
    const child = spawn(process.execPath, ['-e', script]);
    await once(child.stdout, 'data');
    const taken = one.take(signal);
    child.kill('SIGKILL');
    using _core = await taken;
    expect(child.killed).toBe(true);
  });

  it('where no socket can be, each has cores of its own', async () => {
    const [one] = workers(1, { run: 'x'.repeat(300) });
    const cores = [await one.take(signal), await one.take(signal)];
    expect(new Set(cores).size).toBe(2);
  });

  it('two files that sweep, one in a process and one in a thread: two cores, and both get on', async () => {
    const log = join(dir, 'log');
    const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config'];
    const { VITEST: _, ...environment } = process.env;
    const config = 'test/vitest/two-files/vitest.config.ts';
    await promisify(execFile)(process.execPath, [...vitest, config], {
      env: { ...environment, LOG: log },
    });
    const lines = readFileSync(log, 'utf8').trim().split('\n');
    const begun = lines.filter((line) => line.startsWith('+'));
    expect(begun.length).toBe(240);
    let playing = 0;
    const most = Math.max(...lines.map((line) => (playing += { '+': 1, '-': -1 }[line[0]!] ?? 0)));
    expect(most).toBe(2);
    const switches = begun.filter((line, at) => at > 0 && line !== begun[at - 1]);
    expect(switches.length).toBeGreaterThan(10);
  });
});
