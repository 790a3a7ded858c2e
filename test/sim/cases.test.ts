/**
 * Every scenario file in virtual time: each ends exactly as it says, every one of its faults fell,
 * and what it is about really happened on the way there.
 */
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { RunSummary } from '../../src/verdict/types.js';
import { planFile, playOnSim } from './stage.js';

type Way = {
  readonly [Part in 'skip' | 'leadership' | 'mirror']?: Partial<RunSummary[Part]>;
};

const ONE_REFUSED: Way = { skip: { batches: 1, refused: 1 }, mirror: { rollbacks: 1 } };
const MESSAGE_REFUSED: Way = { skip: { batches: 1, refused: 0 }, mirror: { rollbacks: 1 } };
const ONE_LEADER: Way = { leadership: { elections: 1, lastTerm: 1 } };
const TWO_LEADERS: Way = { leadership: { elections: 2 } };

/** What each file goes through under its own seed. */
const WAYS: Readonly<Record<string, Way>> = {
  'main-job': { skip: { batches: 3, refused: 1 }, leadership: { elections: 4 } },
  'tail-gap': { skip: { sequences: 2, batches: 1 } },
  'a1-a-refused-skip': { ...ONE_REFUSED, leadership: { elections: 1 } },
  'a1-a-step-down-before-the-skip': TWO_LEADERS,
  'a1-b-step-down-between-batches': {
    skip: { sequences: 25_000, batches: 3, largestBatch: 10_000, refused: 1 },
    ...TWO_LEADERS,
  },
  'a1-c-refused-set-up-skip': {
    skip: { batches: 1, refused: 1 },
    mirror: { openings: 3, rollbacks: 1, retries: 2 },
  },
  'a2-entries-1m': { skip: { sequences: 999_999, batches: 100, largestBatch: 10_000 } },
  'a2-range-100m': { skip: { sequences: 99_999_999, batches: 1, largestBatch: 1 } },
  'a3-one-deleted': { skip: { sequences: 1, batches: 1 } },
  'a3-eleven-deleted': { skip: { sequences: 11, batches: 2 } },
  'a3-five-overwritten': { skip: { sequences: 5, batches: 5 } },
  'a5-high-first-sequence': { skip: { sequences: 999_999_999, batches: 1, largestBatch: 1 } },
  'a5-jump-that-reached-nobody': { skip: { batches: 2, largestBatch: 1 }, ...TWO_LEADERS },
  'a7-neighbouring-gaps': { skip: { sequences: 95, batches: 4 } },
  'a8-filtered-origin': { skip: { sequences: 200, batches: 10 } },
  'b1-flap-after-a-refusal': { mirror: { rollbacks: 1 }, ...TWO_LEADERS },
  'b2-flap-in-the-middle-of-a-skip': { skip: { sequences: 25_000, batches: 3 }, ...TWO_LEADERS },
  'b3-accepted-and-never-logged': TWO_LEADERS,
  'b3-overrun-in-the-middle-of-a-skip': {
    skip: { batches: 3, refused: 1 },
    mirror: { openings: 2, rollbacks: 1 },
    ...TWO_LEADERS,
  },
  'b5-kill-with-unapplied-entries': TWO_LEADERS,
  'b5-kill-in-the-no-op': { leadership: { elections: 3 }, mirror: { openings: 2 } },
  'b7-broken-disk': TWO_LEADERS,
  'b7-failed-sync-and-return': TWO_LEADERS,
  'c1-entry-without-quorum': TWO_LEADERS,
  'c1-killed-with-an-entry-of-its-own': TWO_LEADERS,
  'c1-torn-tail': TWO_LEADERS,
  'c2-leaders-cut-off-in-turn': { leadership: { elections: 4 } },
  'c2-each-with-an-entry-of-its-own': { leadership: { elections: 4 }, mirror: { openings: 4 } },
  'c4-late-and-repeated-appends': { skip: { sequences: 500, batches: 1 } },
  'd6-lagging-member-returns': TWO_LEADERS,
  'd6-wiped-member': TWO_LEADERS,
  'd11-two-far-behind': { leadership: { elections: 1 } },
  'e1-backoff': { mirror: { openings: 2, retries: 3 } },
  'e2-late-answer': { mirror: { openings: 2, retries: 2 } },
  'e3-lost-consumer': { mirror: { openings: 2, retries: 1 } },
  'e5-origin-recreated': { mirror: { openings: 1, retries: 1 } },
  'e5-origin-recreated-and-longer': { mirror: { openings: 1, retries: 1 } },
  'f1-refused-message-before-a-gap': MESSAGE_REFUSED,
  'f2-refused-message-before-a-range': MESSAGE_REFUSED,
  'f8-quorum-lost-same-leader': { leadership: { elections: 1 }, mirror: { openings: 1 } },
  'f8-quorum-lost-other-leader': { skip: { sequences: 50_000, batches: 6 }, ...TWO_LEADERS },
  'f9-batch-boundaries': { skip: { sequences: 70_001, batches: 9, largestBatch: 10_000 } },
  'ring-of-majorities': ONE_LEADER,
  'bridge-between-halves': ONE_LEADER,
  'spurs-on-a-majority': ONE_LEADER,
  'deaf-leader': TWO_LEADERS,
  'mute-leader': TWO_LEADERS,
  'rejoining-member': ONE_LEADER,
  'slow-clock-of-a-leader': TWO_LEADERS,
};

describe('sim: scenario files', () => {
  it('each has a way that is checked', () => {
    const files = readdirSync('scenarios').filter((file) => file.endsWith('.yaml'));
    const checked = Object.keys(WAYS).map((file) => `${file}.yaml`);
    expect(checked.sort()).toEqual(files.sort());
  });

  it.each(Object.entries(WAYS))('%s', async (file, way) => {
    const plan = planFile(`scenarios/${file}.yaml`);
    const { summary, reasons } = await playOnSim(plan);
    expect(reasons).toEqual([]);
    expect(summary.verdict).toBe('held');
    expect(summary.faults.filter(({ status }) => status !== 'installed')).toEqual([]);
    const states = summary.replicas.map(({ id: _id, digest: _digest, ...state }) => state);
    expect(new Set(states.map((state) => JSON.stringify(state)))).toEqual(
      new Set([JSON.stringify(plan.expect.state)]),
    );
    expect(summary).toMatchObject(way);
  });
});
