/** Entry of a replica's thread: loads what is asynchronous, then only answers. */
import { parentPort } from 'node:worker_threads';
import * as Comlink from 'comlink';
import nodeEndpoint from 'comlink/dist/esm/node-adapter.mjs';
import { invariant } from '../src/base/errors.js';
import { loadHasher } from '../src/base/hasher.js';
import { ReplicaWorker } from '../src/threads/replica-worker.js';

invariant(parentPort !== null, 'this file runs as a worker');
Comlink.expose(new ReplicaWorker(await loadHasher(), import.meta.url), nodeEndpoint(parentPort));
