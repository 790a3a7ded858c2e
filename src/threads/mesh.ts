/** What a cluster of threads is wired from: the built worker files and a port for each pair. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { LockstepError } from '../base/errors.js';
import type { Member } from '../base/member.js';

/** One end of the port to a peer. */
export interface PeerPort {
  readonly member: Member;
  readonly port: MessagePort;
}

/** For each member, in their order, its ends of the ports to all others. */
export function meshOf(members: readonly Member[]): PeerPort[][] {
  const ends: PeerPort[][] = members.map(() => []);
  members.forEach((one, a) => {
    members.slice(a + 1).forEach((other, behind) => {
      const { port1, port2 } = new MessageChannel();
      ends[a]!.push({ member: other, port: port1 });
      ends[a + 1 + behind]!.push({ member: one, port: port2 });
    });
  });
  return ends;
}

/** The compiled worker, also when this file itself runs from its source (under a test runner). */
export function workerFile(name: 'replica' | 'origin'): URL {
  const source = import.meta.url.endsWith('.ts');
  const file = new URL(`${source ? '../../dist' : '../..'}/workers/${name}.js`, import.meta.url);
  if (existsSync(fileURLToPath(file))) return file;
  throw new LockstepError('harness', `worker ${name}.js is not built: npm run build`);
}
