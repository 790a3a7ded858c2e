/**
 * Random schedules: loss, duplicates, any order, partitions, crashes with writes under way. After
 * every step the properties of the paper's figure 3 hold, and commits are on durable majorities;
 * after healing the cluster elects, commits and agrees.
 */
import { describe, expect, it } from 'vitest';
import { createPrng, type Prng } from '../../src/base/prng.js';
import type { Entry } from '../../src/raft/types.js';
import { Network, type Node } from './network.js';

const SEEDS = 300;
const STEPS = 400;

/** What was seen to be true once and must stay so. */
class Witness {
  readonly #network: Network;
  readonly #leaders = new Map<number, string>();
  readonly #entries = new Map<string, string>();
  readonly #votes = new Map<string, string>();
  readonly committed: Entry[] = [];
  readonly #eventsSeen = new Map<Node, number>();

  constructor(network: Network) {
    this.#network = network;
  }

  observe(node: Node): void {
    this.#electionSafety(node);
    this.#oneVoteATerm(node);
    this.#logMatching(node);
    this.#stateMachineSafety(node);
  }

  #electionSafety(node: Node): void {
    const seen = this.#eventsSeen.get(node) ?? 0;
    this.#eventsSeen.set(node, node.events.length);
    for (const event of node.events.slice(seen)) {
      if (event.kind !== 'role' || event.role !== 'leader') continue;
      this.#same('leader of term', this.#leaders, event.term, node.member);
      if (node.raft?.isLeader) this.#leaderCompleteness(node);
    }
  }

  #leaderCompleteness({ raft }: Node): void {
    for (const { index, term } of this.committed) {
      // A leader of an earlier term may not know what was committed after it.
      if (term <= raft!.term && (raft!.termAt(index) ?? term) !== term) {
        throw new Error(`leader of term ${raft!.term} lacks committed entry ${index}`);
      }
      if (term < raft!.term && index > raft!.lastIndex) {
        throw new Error(`leader of term ${raft!.term} lacks committed entry ${index}`);
      }
    }
  }

  #oneVoteATerm({ member, journal }: Node): void {
    if (journal.vote !== null) {
      this.#same('vote in', this.#votes, `${member}/${journal.term}`, journal.vote);
    }
  }

  /** An entry of one index and term has one content and one predecessor, so one prefix. */
  #logMatching({ raft }: Node): void {
    if (raft === null) return;
    for (let index = Math.max(1, raft.lastIndex - 8); index <= raft.lastIndex; index++) {
      const entry = raft.entry(index);
      if (entry === undefined) continue;
      const content = `${raft.termAt(index - 1)}:${entry.kind}:${entry.bytes.join()}`;
      this.#same('entry', this.#entries, `${index}/${entry.term}`, content);
    }
  }

  #stateMachineSafety({ raft, applied }: Node): void {
    if (raft === null) return;
    for (let index = this.committed.length + 1; index <= raft.commit; index++) {
      const entry = applied[index - 1] ?? raft.entry(index)!;
      this.#onMajority(entry);
      this.committed.push(entry);
    }
    for (const entry of applied.slice(-8)) {
      const { term, bytes } = this.committed[entry.index - 1]!;
      if (term !== entry.term || bytes.join() !== entry.bytes.join()) {
        throw new Error(`two entries applied at index ${entry.index}`);
      }
    }
  }

  #onMajority({ index, term }: Entry): void {
    const nodes = [...this.#network.nodes.values()];
    const holders = nodes.filter(({ journal }) => journal.entries[index - 1]?.term === term);
    if (holders.length * 2 <= nodes.length) {
      throw new Error(`entry ${index} committed on ${holders.length} of ${nodes.length}`);
    }
  }

  #same<Key extends string | number>(
    what: string,
    known: Map<Key, string>,
    key: Key,
    value: string,
  ): void {
    const before = known.get(key);
    if (before === undefined) known.set(key, value);
    else if (before !== value) throw new Error(`${what} ${key}: ${before} and ${value}`);
  }
}

interface Odds {
  readonly drop: number;
  readonly duplicate: number;
  readonly reorder: number;
  readonly crash: number;
  readonly partition: number;
}

function step(network: Network, witness: Witness, prng: Prng, odds: Odds, proposed: number): void {
  const nodes = [...network.nodes.values()];
  const node = nodes[prng.below('node', nodes.length)]!;
  if (prng.chance('crash', odds.crash, 1_000)) {
    if (node.raft === null) network.start(node.member);
    else crash(node, prng);
  }
  if (prng.chance('partition', odds.partition, 1_000)) split(network, nodes, prng);
  if (node.raft !== null) {
    if (prng.chance('tick', 2, 3)) node.raft.tick(false);
    if (node.raft.isLeader && prng.chance('propose', 1, 2)) network.propose(node.member, proposed);
    if (prng.chance('transfer', 1, 100)) node.raft.stepDown('best');
    network.drain(node);
    if (node.writes.length > 0 && prng.chance('write', 1, 2)) network.complete(node);
    network.drain(node);
  }
  witness.observe(node);
  for (let left = prng.below('deliveries', 8); left > 0; left--)
    deliver(network, witness, prng, odds);
}

/** Some of the writes under way reach the disk before the crash, in their order. */
function crash(node: Node, prng: Prng): void {
  const durable = prng.below('torn', node.writes.length + 1);
  for (const write of node.writes.slice(0, durable)) node.write(write);
  node.crash();
}

function split(network: Network, nodes: readonly Node[], prng: Prng): void {
  if (prng.chance('heal', 1, 2)) {
    network.heal();
    return;
  }
  for (const { member: from } of nodes) {
    const to = nodes[prng.below('cut', nodes.length)]!.member;
    network.cut(from, to);
  }
}

function deliver(network: Network, witness: Witness, prng: Prng, odds: Odds): void {
  const { wire } = network;
  if (wire.length === 0) return;
  const at = prng.chance('reorder', odds.reorder, 100) ? prng.below('at', wire.length) : 0;
  const message = wire[at]!;
  if (!prng.chance('duplicate', odds.duplicate, 100)) wire.splice(at, 1);
  if (prng.chance('drop', odds.drop, 100) || !network.reaches(message)) return;
  network.raft(message.to).step(message);
  const node = network.node(message.to);
  // Now and then several messages are one turn.
  if (prng.chance('turn', 2, 3)) network.drain(node);
  witness.observe(node);
}

function play(seed: number): { commits: number; terms: number } {
  const prng = createPrng(seed);
  const size = prng.between('size', 2, 5);
  const members = Array.from({ length: size }, (_, at) => `r${at + 1}.1`);
  const network = new Network({
    members,
    seed,
    raft: {
      preVote: prng.chance('preVote', 3, 4),
      checkQuorum: prng.chance('checkQuorum', 3, 4),
      limits: {
        heartbeatTicks: 2,
        electionTicksMin: 6,
        electionTicksMax: 14,
        inflightAppendsMax: prng.between('window', 1, 4),
        appendBytesMax: prng.between('append', 1, 4),
      },
    },
  });
  const odds = {
    drop: prng.below('drops', 20),
    duplicate: prng.below('duplicates', 20),
    reorder: prng.below('reorders', 50),
    crash: prng.below('crashes', 25),
    partition: prng.below('partitions', 20),
  };
  const witness = new Witness(network);
  for (let at = 0; at < STEPS; at++) step(network, witness, prng, odds, at % 256);
  heal(network, witness);
  return { commits: witness.committed.length, terms: network.raft(members[0]!).term };
}

/** Everything is up and linked: one leader commits a new entry and all logs become equal. */
function heal(network: Network, witness: Witness): void {
  network.heal();
  for (const node of network.nodes.values()) if (node.raft === null) network.start(node.member);
  let proposedTo = '';
  network.until(() => {
    const [leader, ...others] = network.leaders();
    for (const node of network.living) witness.observe(node);
    if (leader === undefined || others.length > 0) return false;
    if (leader !== proposedTo) {
      network.propose(leader);
      proposedTo = leader;
      return false;
    }
    const { lastIndex } = network.raft(leader);
    return network.living.every(({ raft, applied }) => {
      const equal = raft!.lastIndex === lastIndex && raft!.commit === lastIndex;
      return equal && applied.length === lastIndex;
    });
  });
  const logs = network.living.map(({ applied }) => applied);
  for (const log of logs) expect(log).toEqual(logs[0]);
}

describe('raft: random schedules', () => {
  it(`${SEEDS} seeds: figure 3 holds at every step, healed clusters agree`, () => {
    let commits = 0;
    let terms = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      try {
        const outcome = play(seed);
        commits += outcome.commits;
        terms += outcome.terms;
      } catch (error) {
        throw new Error(`seed ${seed}: ${String(error)}`, { cause: error });
      }
    }
    // The schedules are neither so calm nor so wild that they show nothing.
    expect(commits / SEEDS).toBeGreaterThan(10);
    expect(terms / SEEDS).toBeGreaterThan(2);
  });

  it('same seed -> same run', () => {
    expect(play(7)).toEqual(play(7));
  });
});
