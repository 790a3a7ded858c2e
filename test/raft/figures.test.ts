/** The situations of the paper's figures 7 and 8, played to their ends. */
import { describe, expect, it } from 'vitest';
import type { Message, RaftJournal } from '../../src/raft/types.js';
import { Network } from './network.js';
import { FIVE, journalOf } from './stage.js';

const [S1, S2, S3, S4, S5] = FIVE as [string, string, string, string, string];

function journalsOf(logs: readonly number[][], term: number): Record<string, RaftJournal> {
  return Object.fromEntries(logs.map((log, at) => [`r${at + 1}.1`, journalOf(log, { term })]));
}

/** The terms of what each member holds durably. */
function logsOf(network: Network): number[][] {
  return [...network.nodes.values()].map(({ journal }) => journal.entries.map(({ term }) => term));
}

function commitsOf(network: Network): (number | undefined)[] {
  return [...network.nodes.values()].map(({ raft }) => raft?.commit);
}

describe('5.3: figure 7', () => {
  /** As a leader of term 8 comes to power: its own log, then (a) to (f). */
  const LOGS = [
    [1, 1, 1, 4, 4, 5, 5, 6, 6, 6],
    [1, 1, 1, 4, 4, 5, 5, 6, 6],
    [1, 1, 1, 4],
    [1, 1, 1, 4, 4, 5, 5, 6, 6, 6, 6],
    [1, 1, 1, 4, 4, 5, 5, 6, 6, 6, 7, 7],
    [1, 1, 1, 4, 4, 4, 4],
    [1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3],
  ];
  const situation = (appendBytesMax: number): Network => {
    const journals = journalsOf(LOGS, 7);
    return new Network({
      members: Object.keys(journals),
      journals,
      raft: { limits: { appendBytesMax } },
    });
  };

  it.each([
    ['as long as they may be', 1 << 20],
    ['of one entry', 1],
  ])('5.3: figure 7: appends %s -> every log equals the one of the leader', (_, bytes) => {
    const network = situation(bytes);
    network.elect(S1);
    expect([network.leaders(), network.raft(S1).term]).toEqual([[S1], 8]);
    network.propose(S1);
    network.settle();
    expect(logsOf(network)).toEqual(LOGS.map(() => [...LOGS[0]!, 8, 8]));
    expect(commitsOf(network)).toEqual(LOGS.map(() => 12));
    const { applied } = network.node(S1);
    expect(applied.map(({ index }) => index)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    for (const node of network.living) expect(node.applied).toEqual(applied);
  });

  it('5.3: figure 7: a log that differs is found to match after one refusal, however long', () => {
    const network = situation(1 << 20);
    network.elect(S1);
    const refusals = network.sent.flatMap((message) =>
      message.type === 'appendReply' && !message.accepted ? [message] : [],
    );
    const found = refusals.map(({ from, index, hintIndex, hintTerm }) => ({
      [from]: [index, hintIndex, hintTerm],
    }));
    expect(found).toEqual([
      { 'r2.1': [10, 9, 6] },
      { 'r3.1': [10, 4, 4] },
      { 'r6.1': [10, 7, 4] },
      { 'r7.1': [10, 10, 3] },
    ]);
  });
});

describe('5.4.2: figure 8', () => {
  /** Situation (b): S1 and S2 hold an entry of term 2, S5 one of term 3 and is down. */
  const situation = (): Network => {
    const journals = journalsOf([[1, 2], [1, 2], [1], [1], [1, 3]], 3);
    const network = new Network({ members: FIVE, journals });
    network.crash(S5);
    return network;
  };

  /** As settle(), but appends reach nobody beyond index 2. */
  const settleShortened = (network: Network): void => {
    const shortened = (message: Message): Message =>
      message.type === 'append'
        ? { ...message, entries: message.entries.filter(({ index }) => index <= 2) }
        : message;
    for (;;) {
      for (const node of network.living) {
        network.drain(node);
        while (node.writes.length > 0) network.complete(node);
        network.drain(node);
      }
      const message = network.wire.shift();
      if (message === undefined) return;
      if (network.reaches(message)) network.raft(message.to).step(shortened(message));
    }
  };

  it('5.4.2: figure 8 (d): the entry of term 2 on a majority is not committed, and replaced', () => {
    const network = situation();
    network.raft(S1).campaign({ term: 3, deadLeader: null });
    settleShortened(network);
    expect(network.leaders()).toEqual([S1]);
    expect(logsOf(network)).toEqual([
      [1, 2, 4],
      [1, 2],
      [1, 2],
      [1, 2],
      [1, 3],
    ]);
    expect(commitsOf(network)).toEqual([0, 0, 0, 0, undefined]);

    network.crash(S1);
    network.start(S5);
    network.elect(S5);
    expect([network.leaders(), network.raft(S5).term], 'learns of term 4').toEqual([[], 4]);
    network.elect(S5);
    expect(network.leaders()).toEqual([S5]);
    network.start(S1);
    network.tick(5);
    expect(logsOf(network)).toEqual(FIVE.map(() => [1, 3, 5]));
    expect(commitsOf(network)).toEqual([3, 3, 3, 3, 3]);
  });

  it('5.4.2: figure 8 (e): with an entry of term 4 on a majority S5 cannot win', () => {
    const network = situation();
    network.partition([S1, S2, S3], [S4], [S5]);
    network.elect(S1);
    expect(logsOf(network)).toEqual([[1, 2, 4], [1, 2, 4], [1, 2, 4], [1], [1, 3]]);
    expect(commitsOf(network)).toEqual([3, 3, 3, 0, undefined]);

    network.crash(S1);
    network.heal();
    network.start(S5);
    network.elect(S5);
    network.elect(S5);
    expect(network.leaders()).toEqual([]);
    network.elect(S2);
    expect(network.leaders()).toEqual([S2]);
    network.start(S1);
    network.tick(5);
    const { term } = network.raft(S2);
    expect(logsOf(network)).toEqual(FIVE.map(() => [1, 2, 4, term]));
    expect(commitsOf(network)).toEqual([4, 4, 4, 4, 4]);
  });
});
