/** What a drawn run looks like to a person. */
import { describe, expect, it } from 'vitest';
import { describeSwarm } from '../../src/kit/drawn-text.js';
import { CALM } from '../../src/sim/conditions.js';
import type { SwarmPlan } from '../../src/sim/swarm-plan.js';

const PLAN: SwarmPlan = {
  seed: 7,
  replicas: 5,
  election: 'timers',
  skip: 'range',
  timeScale: 0.05,
  origin: { kind: 'synthetic', messages: 1_200, size: 10, rate: 500, gaps: [] },
  conditions: CALM,
  faults: [],
  safetyMs: 900,
  core: [0, 1, 2, 3, 4],
};

describe('cli: a drawn run', () => {
  it('without anything special', () => {
    expect(describeSwarm(PLAN)).toEqual([
      'seed 7',
      '  cluster       5 replicas, elected by timers; all healed',
      "  time          900 ms of faults; the mirror's constants times 0.05",
      '  origin        1,200 messages of 10 bytes, 500 a second',
      '  gaps          none',
      '  raft          election 200 to 400 ms, heartbeat 50 ms, pre-vote on, check-quorum on',
      '  bounds        as usual',
      '  peers         0.03 to 0.09 ms, nothing lost',
      '  to origin     0.03 to 0.09 ms, nothing lost',
      '  to conductor  0.03 to 0.09 ms, nothing lost',
      '  hosts         writes 0.02 to 0.12 ms, turns 0.02 ms, clocks off by up to 0 of 1,000',
      '  no faults',
    ]);
  });

  it('gaps, bursts, bounds, a lossy link, a core and faults', () => {
    const gaps = [
      { after: 5, count: 10_000 },
      { after: 9, count: 1 },
    ];
    const text = describeSwarm({
      ...PLAN,
      origin: { ...PLAN.origin, rate: null, gaps },
      load: { heldBack: 3, burst: { messages: 20, everyMs: 40 }, sizeMax: 99, headersEvery: 8 },
      tuning: {
        ...{ preVote: false, checkQuorum: true },
        limits: { electionTicksMin: 10, electionTicksMax: 20, batchCountMax: 7 },
        window: { messages: 64, bytes: 1_094, recordBytes: 187 },
      },
      conditions: {
        ...CALM,
        peers: { ...CALM.peers, lossPerMille: 5, reorderPerMille: 10, reorderMaxUs: 500 },
      },
      faults: [
        { atMs: 20, target: 'leader', action: { kind: 'flap' }, when: 'elected' },
        { atMs: 300, target: 1, action: { kind: 'clog', way: 'in', forMs: 9 } },
      ],
      core: [0, 2, 4],
      sentinelAfterMs: 60,
    });
    expect(text.slice(1, 7)).toEqual([
      '  cluster       5 replicas, elected by timers; healed r1 r3 r5',
      "  time          900 ms of faults; the mirror's constants times 0.05",
      '  origin        1,200 messages of 10 to 99 bytes, 20 at a time every 40 ms, ' +
        'headers on 1 of 8; the last 3 come 60 ms after healing',
      '  gaps          10,000 after message 5, 1 after message 9; skipped by range',
      '  raft          election 100 to 200 ms, heartbeat 50 ms, pre-vote off, check-quorum on',
      '  bounds        batchCountMax 7, window 64 messages, 1,094 bytes',
    ]);
    expect(text[7]).toBe(
      '  peers         0.03 to 0.09 ms, 5 of 1,000 lost, 10 overtaken by up to 0.5 ms',
    );
    expect(text.slice(-2)).toEqual([
      '  f1  20 ms   leader  flap                   when elected',
      '  f2  300 ms  r2      clog  way in, forMs 9',
    ]);
  });
});
