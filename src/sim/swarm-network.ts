/** Faults of a drawn run that strike links: cuts that may overlap, clogs and echoes. */
import type { Message } from '../raft/types.js';
import type { SimLink } from './link.js';
import type { SimNode } from './node.js';
import type { SwarmAction } from './swarm-plan.js';
import { cutsOfShape, type Cut } from '../scenario/shapes.js';
import { cutsOfMask, cutsOfOne } from './topology.js';
import type { SimWorld } from './world.js';

type ActionOf<K> = Extract<SwarmAction, { readonly kind: K }>;
type Way = 'both' | 'in' | 'out';

export class SwarmNetwork {
  readonly #world: SimWorld;
  readonly #later: (forMs: number, happen: () => void) => void;
  /** How many cuts lie on each direction of each pair, so that two that overlap mend in turn. */
  readonly #cuts = new Map<string, number>();

  /** @param later  does something after so long, unless the world was healed by then */
  constructor(world: SimWorld, later: (forMs: number, happen: () => void) => void) {
    this.#world = world;
    this.#later = later;
  }

  isolate(node: SimNode, { way, forMs }: ActionOf<'isolate'>): boolean {
    return this.#cutAll(cutsOfOne(this.#positionOf(node), way, this.#members), forMs);
  }

  partition({ mask, way, forMs }: ActionOf<'partition'>): boolean {
    return this.#cutAll(cutsOfMask(mask, way, this.#members), forMs);
  }

  topology({ shape, shift, forMs }: ActionOf<'topology'>): boolean {
    return this.#cutAll(cutsOfShape(shape, this.#members, shift), forMs);
  }

  clog(node: SimNode, { way, forMs }: ActionOf<'clog'>): boolean {
    const links = this.#linksOf(node, way);
    for (const link of links) link.clog(this.#untilUs(forMs));
    return links.length > 0;
  }

  echo(node: SimNode, { times, afterMs }: ActionOf<'echo'>): boolean {
    const links = this.#linksOf(node, 'out');
    for (const link of links) link.echo(times, afterMs * 1_000);
    return links.length > 0;
  }

  cutOrigin(node: SimNode, { forMs }: ActionOf<'cutOrigin'>): true {
    this.#world.cutOrigin(node, true);
    this.#later(forMs, () => {
      this.#world.cutOrigin(node, false);
    });
    return true;
  }

  clogOrigin(node: SimNode, { forMs }: ActionOf<'clogOrigin'>): true {
    const { toOrigin, fromOrigin } = this.#world.tiesOf(node);
    toOrigin.clog(this.#untilUs(forMs));
    fromOrigin.clog(this.#untilUs(forMs));
    return true;
  }

  get #members(): number {
    return this.#world.nodes.length;
  }

  #untilUs(forMs: number): number {
    return this.#world.agenda.nowUs + forMs * 1_000;
  }

  #positionOf(node: SimNode): number {
    return this.#world.nodes.indexOf(node);
  }

  #linksOf(node: SimNode, way: Way): SimLink<Message>[] {
    const out = [...this.#world.tiesOf(node).peers.values()];
    const into = this.#world.nodes.flatMap((other) => {
      const link = this.#world.tiesOf(other).peers.get(node.member);
      return link === undefined ? [] : [link];
    });
    return [...(way === 'in' ? [] : out), ...(way === 'out' ? [] : into)];
  }

  /** False: there is nothing to cut. */
  #cutAll(cuts: readonly Cut[], forMs: number): boolean {
    const { nodes } = this.#world;
    for (const [from, to] of cuts) this.#cut(nodes[from]!, nodes[to]!, forMs);
    return cuts.length > 0;
  }

  #cut(from: SimNode, to: SimNode, forMs: number): void {
    const key = `${from.slot} to ${to.slot}`;
    this.#cuts.set(key, (this.#cuts.get(key) ?? 0) + 1);
    this.#world.cut(from, to, true);
    this.#later(forMs, () => {
      const left = this.#cuts.get(key)! - 1;
      this.#cuts.set(key, left);
      if (left === 0) this.#world.cut(from, to, false);
    });
  }
}
