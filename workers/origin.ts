/** Entry of the origin's thread. */
import { parentPort } from 'node:worker_threads';
import * as Comlink from 'comlink';
import nodeEndpoint from 'comlink/dist/esm/node-adapter.mjs';
import { invariant } from '../src/base/errors.js';
import { loadHasher } from '../src/base/hasher.js';
import { OriginWorker } from '../src/threads/origin-worker.js';
import type { OpenLive } from '../src/threads/protocol.js';

invariant(parentPort !== null, 'this file runs as a worker');
const openLive: OpenLive = async (plan, tools) => {
  // Loaded by those who use it: a made origin needs no network.
  const { openLiveOrigin } = await import('../src/nats/origin.js');
  return openLiveOrigin(plan, tools);
};
Comlink.expose(new OriginWorker(await loadHasher(), openLive), nodeEndpoint(parentPort));
