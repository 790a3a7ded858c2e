/**
 * The language of stories about a whole cluster, in virtual time on links that take 1 ms and disks
 * that take 0.1 ms. Nobody campaigns unless told to. Slots are r1, r2, …; what a member does is
 * told as it happens, signs of life when they say something new.
 *
 *     cluster 3 [skip=entries|range] [check-quorum=on|off]
 *               [batch=COMMANDS] [window=MESSAGES]    the first command; bounds of batches, and of
 *                                                     what the origin may have under way
 *     origin messages=20 [gap=5+25000]… [held=N]    and a sentinel behind them; before anything
 *                                                   happens; without it no origin answers
 *     elect r1 · step-down r1 [to r2|best] · flap r1 · configure r1 · unconfigure r1
 *     refuse r1 overrun|writeFailed                 its next proposal
 *     kill r1 · restart r1
 *     cut r1 r2|origin · mend r1 r2|origin          both directions
 *     partition r1 r2 | r3                          cut between the sides, mended within each
 *     publish · drop-consumer                       what the origin held back; its consumer
 *     when r1 STATE COMMAND                         in the middle of its turn, as it comes to that
 *     run 50ms · until r1|all STATE                 at most 10 s
 *     state · log                                   of every living member; terms of its log
 *
 * STATE is `leads [TERM]`, `serves`, `log INDEX`, `commit INDEX`, `stored MESSAGES`, `last SEQ` or
 * `skipped COUNT`; a number means at least that.
 */
import { loadHasher } from '../../src/base/hasher.js';
import { ORIGIN_WINDOW_BYTES, RECORD_BYTES_MAX } from '../../src/base/limits.js';
import { memberOf, type Slot } from '../../src/base/member.js';
import type { Input } from '../../src/replica/types.js';
import type { Conditions, LinkConditions } from '../../src/sim/conditions.js';
import type { SimNode, WorldPlan } from '../../src/sim/node.js';
import type { Taps } from '../../src/sim/taps.js';
import { renderLine, Transcript } from '../../src/sim/transcript.js';
import { SimWorld } from '../../src/sim/world.js';
import type { Command } from './command.js';
import { clusterLog, clusterState } from './cluster-state.js';
import type { Language } from './story.js';

const hasher = await loadHasher();

const STEP_MS = 0.1;
const UNTIL_MS = 10_000;
/** By then every member has started. */
const START_MS = 10;

const EVEN: LinkConditions = {
  ...{ delayMinUs: 1_000, delayMaxUs: 1_000, lossPerMille: 0 },
  ...{ duplicatePerMille: 0, reorderPerMille: 0, reorderMaxUs: 0 },
};
const CONDITIONS: Conditions = {
  ...{ peers: EVEN, origin: EVEN, control: EVEN },
  ...{ writeMinUs: 100, writeMaxUs: 100, turnUs: 10, driftPerMille: 0 },
};

const WINDOW_BYTES = { bytes: ORIGIN_WINDOW_BYTES, recordBytes: RECORD_BYTES_MAX };

type State = (node: SimNode) => boolean;

/** What a member is given, in this order; made when it strikes. */
type Given = (node: SimNode) => readonly Input[];

interface Armed {
  readonly slot: Slot;
  readonly state: State;
  readonly strike: () => void;
}

export class ClusterLanguage implements Language {
  #plan: WorldPlan | null = null;
  #serves = false;
  #world: SimWorld | null = null;
  readonly #transcript = new Transcript({ faults: [] });
  readonly #armed: Armed[] = [];
  #violation: string | null = null;
  #told = 0;

  play(command: Command): readonly string[] {
    const answer = this.#answer(command);
    command.end();
    const lines = this.#transcript.lines.slice(this.#told).map(renderLine);
    this.#told += lines.length;
    if (this.#violation !== null) throw new Error(this.#violation);
    return [...lines, ...answer];
  }

  #answer(command: Command): readonly string[] {
    switch (command.name) {
      case 'cluster':
        this.#plan = planOf(command);
        return [];
      case 'origin':
        this.#originOf(command);
        return [];
      case 'state':
        return clusterState(this.#begun());
      case 'log':
        return clusterLog(this.#begun());
      default:
        this.#act(command, this.#begun());
        return [];
    }
  }

  #act(command: Command, world: SimWorld): void {
    switch (command.name) {
      case 'run':
        return world.run(command.milliseconds());
      case 'until':
        return this.#until(command, world);
      case 'when':
        return this.#arm(command, world);
      case 'restart':
        return world.restart(this.#node(command, world));
      case 'cut':
      case 'mend':
        return this.#cut(command, world);
      case 'partition':
        return this.#partition(command, world);
      case 'publish':
        return world.origin.publishAll();
      case 'drop-consumer':
        if (!world.origin.service.dropConsumer()) throw new Error('there is no consumer');
        return;
      default:
        this.#strike(
          command,
          world,
        )((node, input) => {
          node.order(input);
        });
    }
  }

  /** Something done to a member, at its next turn or in the middle of the present one. */
  #strike(
    command: Command,
    world: SimWorld,
  ): (give: (node: SimNode, input: Input) => void) => void {
    const inputs = INPUTS[command.name];
    if (command.name !== 'kill' && inputs === undefined) {
      throw new Error(`no command of a cluster: ${command.name}`);
    }
    const slots = world.nodes.map(({ slot }) => slot);
    const node = this.#node(command, world);
    const given = inputs?.(command, slots) ?? null;
    return (give) => {
      if (!node.isAlive) throw new Error(`${command.name}: ${node.slot} is dead`);
      if (given === null) return node.crash();
      for (const input of given(node)) give(node, input);
    };
  }

  /** The world is made at the first command that needs it. */
  #begun(): SimWorld {
    if (this.#world !== null) return this.#world;
    const { taps, onEvent } = this.#transcript;
    // The conductor would elect by itself: what it says reaches nobody and is not told.
    const onCrossing: Taps['onCrossing'] = (crossing) => {
      if (crossing.from !== 'conductor') taps.onCrossing!(crossing);
    };
    const world = new SimWorld({
      plan: this.#plan!,
      conditions: CONDITIONS,
      hasher,
      taps: { onCrossing },
      onEvent: (event) => {
        onEvent(event);
        if (event.kind === 'violation') this.#violation ??= `${event.property}: ${event.text}`;
      },
      armed: ({ slot }) => this.#strikeArmed(slot),
    });
    for (const { views, orders } of world.nodes.map((node) => world.tiesOf(node))) {
      views.cut = true;
      orders.cut = true;
    }
    this.#world = world;
    if (this.#serves) world.origin.serve();
    world.run(START_MS);
    return world;
  }

  #originOf(command: Command): void {
    if (this.#world !== null) throw new Error('origin: the cluster has begun');
    const plan = this.#plan!;
    const messages = command.numberAt('messages') ?? 0;
    const gaps = command.values('gap').map(gapOf);
    const heldBack = command.numberAt('held') ?? 0;
    const { size } = plan.origin;
    this.#plan = {
      ...plan,
      origin: { kind: 'synthetic', messages, size, rate: null, gaps },
      load: { heldBack, burst: null, sizeMax: size, headersEvery: 0 },
    };
    this.#serves = true;
  }

  #until(command: Command, world: SimWorld): void {
    const nodes = command.maybe('all') ? world.nodes : [this.#node(command, world)];
    const state = stateOf(command);
    const endMs = world.nowMs + UNTIL_MS;
    while (!nodes.every((node) => node.isAlive && state(node))) {
      if (world.nowMs >= endMs) throw new Error(`until: not within ${UNTIL_MS / 1_000} s`);
      world.run(STEP_MS);
    }
  }

  #arm(command: Command, world: SimWorld): void {
    const node = this.#node(command, world);
    const state = stateOf(command);
    const rest = command.rest();
    const strike = this.#strike(rest, world);
    rest.end();
    this.#armed.push({
      slot: node.slot,
      state: () => node.isAlive && state(node),
      strike: () => {
        node.settle();
        strike((struck, input) => {
          struck.input(input);
        });
      },
    });
  }

  #strikeArmed(slot: Slot): void {
    const node = this.#world!.node(slot);
    const at = this.#armed.findIndex((armed) => armed.slot === slot && armed.state(node));
    if (at === -1) return;
    const [{ strike }] = this.#armed.splice(at, 1) as [Armed];
    strike();
  }

  #cut(command: Command, world: SimWorld): void {
    const cut = command.name === 'cut';
    const node = this.#node(command, world);
    if (command.maybe('origin')) return world.cutOrigin(node, cut);
    setLink(world, node, this.#node(command, world), cut);
  }

  #partition(command: Command, world: SimWorld): void {
    const sides = new Map<SimNode, number>();
    for (let side = 0; command.more;) {
      if (command.maybe('|')) side++;
      else sides.set(this.#node(command, world), side);
    }
    for (const [one, side] of sides) {
      for (const [other, otherSide] of sides) {
        if (other !== one) world.cut(one, other, otherSide !== side);
      }
    }
  }

  #node(command: Command, world: SimWorld): SimNode {
    return world.node(command.oneOf(world.nodes.map(({ slot }) => slot)));
  }
}

/** The commands that give a member something. */
const INPUTS: Readonly<Record<string, (command: Command, slots: readonly Slot[]) => Given>> = {
  elect: () => (node) => [campaign(node)],
  flap: () => (node) => [{ type: 'stepDown', to: null }, campaign(node)],
  'step-down': (command, slots) => {
    const to = command.maybe('to') ? command.oneOf(['best', ...slots]) : null;
    const member = to === null || to === 'best' ? to : memberOf(to, 1);
    return () => [{ type: 'stepDown', to: member }];
  },
  configure: () => () => [{ type: 'configure', mirror: true }],
  unconfigure: () => () => [{ type: 'configure', mirror: false }],
  refuse: (command) => {
    const code = command.oneOf(['overrun', 'writeFailed']);
    return () => [{ type: 'failPropose', count: 1, code }];
  },
};

function campaign({ replica }: SimNode): Input {
  return { type: 'campaign', term: replica!.log.term, deadLeader: replica!.log.leader };
}

function setLink(world: SimWorld, one: SimNode, other: SimNode, cut: boolean): void {
  world.cut(one, other, cut);
  world.cut(other, one, cut);
}

function planOf(command: Command): WorldPlan {
  const replicas = command.number();
  const batchCountMax = command.numberAt('batch');
  const messages = command.numberAt('window');
  return {
    seed: 1,
    replicas,
    // Only that members have no election time-outs of their own.
    election: 'conductor',
    skip: command.valueOf('skip', ['entries', 'range']),
    timeScale: 0.05,
    origin: { kind: 'synthetic', messages: 1, size: 8, rate: null, gaps: [] },
    tuning: {
      preVote: true,
      checkQuorum: command.valueOf('check-quorum', ['on', 'off']) === 'on',
      limits: batchCountMax === undefined ? {} : { batchCountMax },
      ...(messages === undefined ? {} : { window: { messages, ...WINDOW_BYTES } }),
    },
  };
}

/** `5+25000`: so many sequences are missing behind the fifth message. */
function gapOf(text: string): { readonly after: number; readonly count: number } {
  const match = /^(\d+)\+(\d+)$/.exec(text);
  if (match === null) throw new Error(`origin: gap=${text} is not like gap=5+25000`);
  return { after: Number(match[1]), count: Number(match[2]) };
}

function stateOf(command: Command): State {
  const known = ['leads', 'serves', 'log', 'commit', 'stored', 'last', 'skipped'] as const;
  const name = command.oneOf(known);
  if (name === 'serves') return ({ replica }) => replica!.serving;
  const least = name === 'leads' && !command.more ? 1 : command.number();
  return ({ replica }) => {
    const { log, stored, store, skipsAccepted } = replica!;
    switch (name) {
      case 'leads':
        return log.role === 'leader' && log.term >= least;
      case 'log':
        return log.lastIndex >= least;
      case 'commit':
        return log.commit >= least;
      case 'stored':
        return stored >= least;
      case 'last':
        return store.lastSeq >= least;
      case 'skipped':
        return skipsAccepted >= least;
    }
  };
}
