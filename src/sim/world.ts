/**
 * A whole cluster in one thread: members, the links between them, the origin on links of its own,
 * and the conductor behind links too. Its only sources of what happens when are the agenda and the
 * draws of one seed, labelled by link, disk and member; there is no clock, timer, promise or order
 * of a hash table in it. So the same plan and conditions give the same events.
 */
import type { Hasher } from '../base/hasher.js';
import { ELECTION_TICKS_MAX, ELECTION_TICKS_MIN } from '../base/limits.js';
import { memberOf, slotsOf, type Member, type Slot } from '../base/member.js';
import { createPrng, type Prng } from '../base/prng.js';
import { Conductor, type ConductorOrder } from '../election/conductor.js';
import type { Role } from '../raft/types.js';
import type { OriginFrame } from '../mirror/types.js';
import type { Replica } from '../replica/replica.js';
import type { ReplicaEvent, ReplicaView } from '../replica/types.js';
import type { ClusterEvent } from '../scenario/driver.js';
import type { DirectedLink } from '../scenario/links.js';
import { Agenda } from './agenda.js';
import type { Conditions } from './conditions.js';
import { ConductorFaults } from './conductor-faults.js';
import type { LinkFate } from './fates.js';
import { Moments, type Reached } from './moments.js';
import { SimNode, type NodeOutputs, type WorldPlan } from './node.js';
import { SimOrigin } from './origin.js';
import type { Taps } from './taps.js';
import { mendTies, tieAll, type Ties } from './ties.js';
import type { Touched } from './troubles.js';
import { Watch } from './watch.js';

export interface WorldOptions {
  readonly plan: WorldPlan;
  readonly conditions: Conditions;
  readonly hasher: Hasher;
  readonly onEvent: (event: ClusterEvent) => void;
  /** Before and between the proposals of a member's turn. */
  readonly armed?: (node: SimNode, view: ReplicaView) => void;
  /** Everything that a member reports, as it does. */
  readonly reported?: (node: SimNode, event: ReplicaEvent) => void;
  /** What becomes of single messages, beside what the links draw. */
  readonly fates?: readonly LinkFate[] | undefined;
  readonly taps?: Taps | undefined;
}

/** What the conductor knows a member by, and when it was told last. */
interface Seen {
  role: Role | null;
  term: number;
  leader: Member | null;
  serves: boolean;
  viewedUs: number;
  watchUntilUs: number;
  last: number;
}

const CONDUCT_EVERY_US = 5_000;
const VIEW_EVERY_US = 50_000;
/** After a probe every turn tells its view. */
const WATCH_US = 30_000;
const CONDUCTOR = {
  viewMaxAgeMs: 300,
  probeMs: 10,
  probeMostMs: 100,
  orderMs: 150,
  restMs: 400,
};

export class SimWorld {
  readonly agenda = new Agenda();
  readonly nodes: readonly SimNode[];
  readonly origin: SimOrigin;
  readonly #onEvent: (event: ClusterEvent) => void;
  readonly #armed: ((node: SimNode, view: ReplicaView) => void) | undefined;
  /** What of the members' views reaches the conductor changed. */
  readonly conductorFaults: ConductorFaults;
  /** Told of the moments that faults wait for. */
  reached: Reached | null = null;
  readonly #moments = new Moments((...at) => this.reached?.(...at));
  readonly #reported: ((node: SimNode, event: ReplicaEvent) => void) | undefined;
  readonly #watch: Watch;
  readonly #conductor: Conductor | null;
  readonly #ties: ReadonlyMap<Slot, Ties>;
  readonly #seen: ReadonlyMap<Slot, Seen>;
  readonly #conduct = (conductor: Conductor): void => {
    for (const order of conductor.tick(this.agenda.nowMs)) {
      this.tiesOf(this.#nodeOf(order.to)).orders.send(order, this.agenda.nowUs);
    }
    this.#conductLater(conductor);
  };

  constructor(options: WorldOptions) {
    const { plan, conditions, hasher, onEvent, armed, reported, fates = [], taps = {} } = options;
    this.#onEvent = onEvent;
    this.#armed = armed;
    this.#reported = reported;
    const { agenda } = this;
    const slots = slotsOf(plan.replicas);
    const members = slots.map((slot) => memberOf(slot, 1));
    const outputs = this.#outputs();
    this.conductorFaults = new ConductorFaults(members);
    const prng = createPrng(plan.seed, taps.onDraw);
    this.nodes = slots.map((slot, at) => {
      const member = members[at]!;
      return new SimNode({
        agenda,
        slot,
        member,
        members,
        plan,
        conditions,
        hasher,
        outputs,
        prng: prng.fork(slot),
      });
    });
    this.origin = new SimOrigin(agenda, plan, hasher, {
      send: ({ to, frame }) => {
        this.#watch.frame(frame);
        this.#frame(this.#nodeOf(to), frame);
      },
      firstDelivery: () => onEvent({ kind: 'firstDelivery', atMs: agenda.nowMs }),
      handedOut: () => onEvent({ kind: 'handedOut', atMs: agenda.nowMs }),
    });
    this.#watch = new Watch({
      hasher,
      timeScale: plan.timeScale,
      timeoutTicks: longestTimeout(plan),
      leaseTicks: plan.tuning?.limits.electionTicksMin ?? ELECTION_TICKS_MIN,
      checkQuorum: plan.tuning?.checkQuorum ?? true,
      transferTicks: plan.tuning?.limits.electionTicksMax ?? ELECTION_TICKS_MAX,
      nodes: this.nodes,
      tell: (violation) =>
        onEvent({ kind: 'violation', ...violation, seq: null, atMs: agenda.nowMs }),
    });
    const conducts = plan.election !== 'timers' && plan.replicas > 1;
    this.#conductor = conducts ? new Conductor({ members, ...CONDUCTOR }) : null;
    this.#ties = tieAll({
      agenda,
      conditions,
      fates,
      taps,
      draws: prng.fork('links'),
      nodes: this.nodes,
      toOrigin: (from, command) => this.origin.command(from, command),
      toConductor: (view) => {
        const { nowMs } = agenda;
        this.#conductor?.view(this.conductorFaults.told(view, nowMs), nowMs);
      },
      order: (node, order) => this.#order(node, order),
    });
    this.#seen = new Map(slots.map((slot) => [slot, neverSeen()]));
    this.#begin(prng.fork('start'));
  }

  get nowMs(): number {
    return this.agenda.nowMs;
  }

  node(slot: Slot): SimNode {
    return this.nodes.find((node) => node.slot === slot)!;
  }

  /** The living member that serves; of two, the one of the later term. */
  leader(): SimNode | null {
    let best: SimNode | null = null;
    for (const node of this.nodes) {
      if (node.replica?.serving !== true) continue;
      if (best === null || node.replica.log.term > best.replica!.log.term) best = node;
    }
    return best;
  }

  run(forMs: number): void {
    this.agenda.runUntil(this.agenda.nowUs + Math.round(forMs * 1_000));
  }

  /** The member ends: the conductor is told, and hears nothing of it until it is started again. */
  ended(node: SimNode): void {
    this.#conductor?.exited(node.member);
  }

  restart(node: SimNode): void {
    if (node.isAlive) return;
    this.#watch.started(node);
    this.#conductor?.returned(node.member);
    this.#seen.get(node.slot)!.last = 0;
    node.start();
  }

  /** One direction between two positions; the origin's is the number of members. */
  link({ from, to }: DirectedLink): Touched | undefined {
    const origin = this.nodes.length;
    if (from === origin) return this.tiesOf(this.nodes[to]!).fromOrigin;
    const ties = this.tiesOf(this.nodes[from]!);
    return to === origin ? ties.toOrigin : ties.peers.get(this.nodes[to]!.member);
  }

  /** Cuts or mends one direction between two members. */
  cut(from: SimNode, to: SimNode, cut: boolean): void {
    const link = this.tiesOf(from).peers.get(to.member);
    if (link !== undefined) link.cut = cut;
  }

  /** Cuts or mends both directions between a member and the origin. */
  cutOrigin(node: SimNode, cut: boolean): void {
    const { toOrigin, fromOrigin } = this.tiesOf(node);
    toOrigin.cut = cut;
    fromOrigin.cut = cut;
  }

  /** From here on every link is like this, and none is cut. */
  mend(conditions: Conditions): void {
    for (const ties of this.#ties.values()) mendTies(ties, conditions);
    this.conductorFaults.clear();
    this.origin.frames.clear();
  }

  /** The links of a member, for faults that strike them one by one. */
  tiesOf({ slot }: SimNode): Ties {
    return this.#ties.get(slot)!;
  }

  // Wiring.

  #outputs(): NodeOutputs {
    return {
      sent: (node, message, atUs) => {
        this.#watch.sent(node, message);
        this.tiesOf(node).peers.get(message.to)?.send(message, atUs);
        if (this.reached !== null) this.#moments.sent(node, message);
      },
      received: (node, message, replica) => this.#watch.received(node, message, replica),
      reads: (node, message, replica) => this.#watch.reads(node, message, replica),
      takesIn: (node, frame) => this.#watch.takesIn(node, frame),
      ordered: (node, order, replica) => this.#watch.ordered(node, order, replica),
      commanded: (node, command, atUs) => {
        this.#watch.commanded(node, command);
        this.tiesOf(node).toOrigin.send(command, atUs);
      },
      written: (node, write) => this.#watch.written(node, write),
      reported: (node, event, atUs) => {
        this.#watch.event(node, event);
        this.#report(node, event, atUs);
        this.#reported?.(node, event);
        if (this.reached !== null) this.#moments.event(node, event);
      },
      armed: (node, view) => {
        this.#armed?.(node, view);
        if (this.reached !== null) this.#moments.between(node);
        const { replica } = node;
        if (replica !== null) this.#watch.advances(node, replica);
      },
      turned: (node, replica) => {
        this.#watch.turned(node, replica);
        this.#view(node, replica);
        if (this.reached !== null) this.#moments.turned(node, replica);
      },
    };
  }

  /** A late one leaves on its own, so that what follows it on the link does not wait for it. */
  #frame(node: SimNode, frame: OriginFrame): void {
    const { agenda } = this;
    const { frame: said, lateByUs } = this.origin.frames.leaving(frame);
    const send = (): void => this.tiesOf(node).fromOrigin.send(said, agenda.nowUs);
    if (lateByUs === 0) send();
    else agenda.after(lateByUs, send);
  }

  /** Members start at different moments of a tick. */
  #begin(prng: Prng): void {
    for (const node of this.nodes) {
      this.agenda.after(prng.below(node.slot, 10_000), () => this.restart(node));
    }
    if (this.#conductor !== null) this.#conductLater(this.#conductor);
  }

  #conductLater(conductor: Conductor): void {
    this.agenda.at(this.agenda.nowUs + CONDUCT_EVERY_US, this.#conduct, conductor);
  }

  #order(node: SimNode, order: ConductorOrder): void {
    if (order.type === 'campaign') {
      const { term, deadLeader } = order;
      node.order({ type: 'campaign', term, deadLeader });
      return;
    }
    this.#seen.get(node.slot)!.watchUntilUs = this.agenda.nowUs + WATCH_US;
    node.order({ type: 'probe' });
  }

  /** An event of a member that was held up happens when it goes on. */
  #report(node: SimNode, event: ReplicaEvent, atUs: number): void {
    const { slot } = node;
    const { nowUs, nowMs } = this.agenda;
    if (atUs <= nowUs) this.#onEvent({ kind: 'replica', slot, atMs: nowMs, event });
    else this.agenda.at(atUs, () => this.#report(node, event, atUs));
  }

  /** Progress as it comes; the view when it changes, and every 50 ms. */
  #view(node: SimNode, replica: Replica): void {
    const { nowUs, nowMs } = this.agenda;
    const { slot } = node;
    const seen = this.#seen.get(slot)!;
    const last = replica.store.lastSeq;
    if (last > seen.last) {
      seen.last = last;
      this.#onEvent({ kind: 'progress', slot, atMs: nowMs, last, messages: replica.stored });
    }
    const isDue = nowUs < seen.watchUntilUs || nowUs - seen.viewedUs >= VIEW_EVERY_US;
    if (this.#conductor === null || !(changes(seen, replica) || isDue)) return;
    seen.viewedUs = nowUs;
    const { member, role, term, leader, lastIndex, lastTerm, hears } = replica.log.status();
    const view = { member, role, term, leader, lastIndex, lastTerm, hears };
    this.tiesOf(node).views.send(view, nowUs);
  }

  #nodeOf(member: Member): SimNode {
    return this.nodes.find((node) => node.member === member)!;
  }
}

/** In ticks; infinite where only the conductor elects, or there is nobody to be elected by. */
function longestTimeout({ replicas, election, tuning }: WorldPlan): number {
  if (election === 'conductor' || replicas === 1) return Number.POSITIVE_INFINITY;
  return tuning?.limits.electionTicksMax ?? ELECTION_TICKS_MAX;
}

function neverSeen(): Seen {
  return {
    role: null,
    term: 0,
    leader: null,
    serves: false,
    viewedUs: 0,
    watchUntilUs: 0,
    last: 0,
  };
}

/** Notes how the replica stands; false when it stood so before. */
function changes(seen: Seen, { log, serving }: Replica): boolean {
  const { role, term, leader } = log;
  const same = role === seen.role && term === seen.term && leader === seen.leader;
  if (same && serving === seen.serves) return false;
  seen.role = role;
  seen.term = term;
  seen.leader = leader;
  seen.serves = serving;
  return true;
}
