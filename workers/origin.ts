/** Entry of the origin's thread. */
import { parentPort } from 'node:worker_threads';
import * as Comlink from 'comlink';
import nodeEndpoint from 'comlink/dist/esm/node-adapter.mjs';
import { invariant } from '../src/base/errors.js';
import { loadHasher } from '../src/base/hasher.js';
import { OriginWorker } from '../src/threads/origin-worker.js';

invariant(parentPort !== null, 'this file runs as a worker');
Comlink.expose(new OriginWorker(await loadHasher()), nodeEndpoint(parentPort));
