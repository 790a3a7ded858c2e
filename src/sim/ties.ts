/**
 * The links of a simulated cluster: between all members, and of each member with the origin and
 * with the conductor. Each has draws of its own, by its name, and its own fates.
 */
import type { Member, Slot } from '../base/member.js';
import type { Prng } from '../base/prng.js';
import type { ConductorOrder, MemberView } from '../election/conductor.js';
import type { OriginCommand, OriginFrame } from '../mirror/types.js';
import type { Message } from '../raft/types.js';
import type { Agenda } from './agenda.js';
import type { Conditions } from './conditions.js';
import { copyCommand, copyFrame, copyMessage, copyOrder, copyView } from './copies.js';
import type { LinkFate } from './fates.js';
import { SimLink, type LinkEnds } from './link.js';
import type { SimNode } from './node.js';
import type { Became, Crossed, Taps } from './taps.js';

/** The links of one member. */
export interface Ties {
  readonly peers: Map<Member, SimLink<Message>>;
  readonly toOrigin: SimLink<OriginCommand>;
  readonly fromOrigin: SimLink<OriginFrame>;
  readonly views: SimLink<MemberView>;
  readonly orders: SimLink<ConductorOrder>;
}

export interface TieOptions {
  readonly agenda: Agenda;
  /** Of the links alone. */
  readonly draws: Prng;
  readonly conditions: Conditions;
  readonly nodes: readonly SimNode[];
  readonly fates: readonly LinkFate[];
  readonly taps: Taps;
  readonly toOrigin: (from: Member, command: OriginCommand) => void;
  readonly toConductor: (view: MemberView) => void;
  readonly order: (node: SimNode, order: ConductorOrder) => void;
}

/** Between two ends, by their names. */
type MakeLink = <T>(
  from: string,
  to: string,
  kind: 'peers' | 'origin' | 'control',
  ends: LinkEnds<T>,
) => SimLink<T>;

export function tieAll(options: TieOptions): ReadonlyMap<Slot, Ties> {
  const { agenda, conditions, nodes, fates, taps, draws } = options;
  const link: MakeLink = (from, to, kind, ends) => {
    const name = `${from} to ${to}`;
    const own = { name, given: fates, onFate: taps.onFate };
    return new SimLink(agenda, draws.fork(name), conditions[kind], ends, own);
  };
  return new Map(nodes.map((node) => [node.slot, tie(node, options, link)]));
}

/** From here on every link is like this, none is cut, and no fate is given any more. */
export function mendTies(ties: Ties, { peers, origin, control }: Conditions): void {
  for (const link of ties.peers.values()) link.mend(peers);
  ties.toOrigin.mend(origin);
  ties.fromOrigin.mend(origin);
  ties.views.mend(control);
  ties.orders.mend(control);
}

function tie(node: SimNode, options: TieOptions, link: MakeLink): Ties {
  const { slot } = node;
  const toPeers = options.nodes
    .filter((other) => other !== node)
    .map((other) => {
      const ends = heard(options, slot, other.slot, {
        copy: (message: Message) => copyMessage(message, other.memory),
        deliver: (message) => other.receive(message),
        crossed: (message) => ({ kind: 'message', message }),
      });
      return [other.member, link(slot, other.slot, 'peers', ends)] as const;
    });
  const toOrigin = heard(options, slot, 'origin', {
    copy: copyCommand,
    deliver: (command) => options.toOrigin(node.member, command),
    crossed: (command) => ({ kind: 'command', command }),
  });
  const fromOrigin = heard(options, 'origin', slot, {
    copy: (frame: OriginFrame) => copyFrame(frame, node.memory),
    deliver: (frame) => node.receiveFrame(frame),
    crossed: (frame) => ({ kind: 'frame', frame }),
  });
  const orders = heard(options, 'conductor', slot, {
    copy: copyOrder,
    deliver: (order) => options.order(node, order),
    crossed: (order) => ({ kind: 'order', order }),
  });
  return {
    peers: new Map(toPeers),
    toOrigin: link(slot, 'origin', 'origin', toOrigin),
    fromOrigin: link('origin', slot, 'origin', fromOrigin),
    views: link(slot, 'conductor', 'control', {
      copy: copyView,
      deliver: options.toConductor,
    }),
    orders: link('conductor', slot, 'control', orders),
  };
}

/** The ends of a link; with a tap on it, whoever listens is told what became of each message. */
function heard<T>(
  { agenda, taps: { onCrossing } }: TieOptions,
  from: string,
  to: string,
  ends: Omit<LinkEnds<T>, 'dropped'> & { readonly crossed: (payload: T) => Crossed },
): LinkEnds<T> {
  const { copy, deliver, crossed } = ends;
  if (onCrossing === undefined) return { copy, deliver };
  const tell = (payload: T, became: Became): void => {
    onCrossing({ atMs: agenda.nowMs, from, to, became, ...crossed(payload) });
  };
  return {
    copy,
    deliver: (payload) => {
      tell(payload, 'delivered');
      deliver(payload);
    },
    dropped: tell,
  };
}
