/** How the members of a cluster stand, a line each; the mirror's under the one that serves. */
import type { MirrorStatus } from '../../src/mirror/types.js';
import type { SimNode } from '../../src/sim/node.js';
import type { SimWorld } from '../../src/sim/world.js';

export function clusterState({ nodes }: SimWorld): string[] {
  return nodes.flatMap(({ slot, replica }) => {
    if (replica === null) return [`${slot}  dead`];
    const { raft, stream, mirror, serving } = replica.status();
    const { role, term, commit, lastIndex } = raft;
    const log = `log to ${lastIndex}, commit ${commit}, applied ${replica.applied}`;
    const { messages, last } = stream;
    const store = `${messages} messages, last ${last}`;
    const line = `${slot}  ${role}, term ${term}, ${log}; ${store}`;
    return serving && mirror !== null ? [line, `    mirror ${mirrorWords(mirror)}`] : [line];
  });
}

/** `r1  1/1 2/4`: indexes and terms of what its log keeps; what all hold is let go. */
export function clusterLog({ nodes }: SimWorld): string[] {
  return nodes.map((node) => `${node.slot}  ${entriesOf(node)}`);
}

function entriesOf({ replica, disk }: SimNode): string {
  const last = replica === null ? disk.lastIndex : replica.log.lastIndex;
  const words: string[] = [];
  for (let index = 1; index <= last; index++) {
    const term = replica === null ? disk.termAt(index) : replica.log.entry(index)?.term;
    if (term !== undefined) words.push(`${index}/${term}`);
  }
  const commit = replica === null ? 'dead' : `commit ${replica.log.commit}`;
  return `${words.join(' ')}; ${commit}`;
}

/** Everything of a status but the silence, which the time tells. */
export function mirrorWords(status: MirrorStatus): string {
  const { condition, lag, error, attempts, opening, cursor } = status;
  const parts = [
    condition,
    opening === null ? 'no opening' : `opening ${opening.term}.${opening.generation}`,
    `cursor ${cursor.seq}`,
    `delivery ${cursor.deliverySeq}`,
    `lag ${lag}`,
    `attempts ${attempts}`,
    error === null ? 'no error' : `error ${error.code}: ${error.message}`,
  ];
  return parts.join(', ');
}
