/** A signal before a cluster of servers stands: no run, and nothing is left of it. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { loadHasher } from '../../src/base/hasher.js';
import { natsDriver } from '../../src/nats/driver.js';
import { planScenario } from '../../src/scenario/parse.js';
import { play } from '../../src/scenario/play.js';
import { serverFiles } from '../nats/stage.js';
import { onServers } from './stage.js';

function logs(root: string): string[] {
  const paths = serverFiles(root).filter((path) => path.endsWith('server.log'));
  return paths.map((path) => (existsSync(path) ? readFileSync(path, 'utf8') : ''));
}

onServers('a signal while a run starts', () => {
  it.each([
    [
      'a server takes connections',
      (dir: string) => serverFiles(dir).some((path) => path.endsWith('.ports')),
    ],
    [
      'the origin is being made',
      (dir: string) => logs(dir).some((log) => log.includes("'LOCKSTEP > ORIGIN'")),
    ],
  ])('%s: inconclusive', async (_, isMoment) => {
    const dir = mkdtempSync(join(tmpdir(), 'lockstep-'));
    vi.stubEnv('TMPDIR', dir);
    const abort = new AbortController();
    const looking = setInterval(() => {
      if (!isMoment(dir)) return;
      clearInterval(looking);
      abort.abort();
    }, 5);
    onTestFinished(() => {
      clearInterval(looking);
      vi.unstubAllEnvs();
      rmSync(dir, { recursive: true });
    });
    const raw = { version: 1, name: 'a test', origin: { synthetic: { messages: 10 } } };
    const { summary, reasons } = await play(
      planScenario(raw, 'test', () => ''),
      {
        ...{ driver: natsDriver, hasher: await loadHasher(), replay: '' },
        signal: abort.signal,
      },
    );
    expect({ verdict: summary.verdict, reasons }).toEqual({
      verdict: 'inconclusive',
      reasons: [{ verdict: 'inconclusive', text: 'ended by a signal before the run began' }],
    });
    expect(readdirSync(dir)).toEqual([]);
  });
});
