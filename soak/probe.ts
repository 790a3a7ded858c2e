/**
 * Preloaded into every thread of a soak (`node --import`), so that nothing of lockstep has to know
 * of it: answers whoever asks on a channel with what its thread holds once its garbage is gone.
 */
import { basename } from 'node:path';
import { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads';

export const CHANNEL = 'lockstep soak';

/** What one thread holds: bytes, and handles by kind. */
export interface Held {
  /** `main`, `replica 2`, `origin 4`: the entry file and the thread's number. */
  readonly thread: string;
  readonly heapUsed: number;
  readonly external: number;
  readonly arrayBuffers: number;
  readonly handles: Readonly<Record<string, number>>;
}

export type Asked = { readonly ask: number } | { readonly answer: number; readonly held: Held };

/** Counted in every thread; what else is open shows in the descriptors of the process. */
const HANDLES = ['MessagePort', 'Timeout'];

export function heldHere(): Held {
  globalThis.gc?.();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  const active = process.getActiveResourcesInfo();
  const handles: Record<string, number> = {};
  for (const kind of HANDLES) handles[kind] = active.filter((name) => name === kind).length;
  const entry = basename(process.argv[1] ?? '', '.js');
  const thread = isMainThread ? 'main' : `${entry} ${threadId}`;
  return { thread, heapUsed, external, arrayBuffers, handles };
}

if (!isMainThread) {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = (message: unknown) => {
    const { data } = message as { readonly data: Asked };
    if ('ask' in data) channel.postMessage({ answer: data.ask, held: heldHere() });
  };
  channel.unref();
}
