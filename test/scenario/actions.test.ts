/** Each kind of fault as written -> as planned, and what it refuses. */
import { describe, expect, it } from 'vitest';
import { planOf, refusedPlan } from './stage.js';

const AT = { at: '1s' };

/** Of a fault: what it does and whom it strikes. */
function planned(fault: object): unknown[] {
  const { action, target } = planOf({ faults: [{ ...fault, ...AT }] }).faults[0]!;
  return [action, target];
}

const CALM = {
  ...{ delayMinMs: 0, delayMaxMs: 0, lossPerMillion: 0 },
  ...{ duplicatePerMillion: 0, reorderPerMillion: 0 },
};
const ALL = { kind: 'all' };
const LEADER = { kind: 'leader' };
const AHEAD = { kind: 'follower', which: 'ahead' };
const CLOCK = { kind: 'clockRate', factor: 1.25, forMs: 1_000 };

describe('actions: members', () => {
  it.each<[object, object, object]>([
    [{ flap: 'leader' }, { kind: 'flap' }, { kind: 'leader' }],
    [{ outOfMemory: 'any' }, { kind: 'outOfMemory' }, { kind: 'any' }],
    [
      { failWrites: 'follower:lagging' },
      { kind: 'failWrites' },
      { kind: 'follower', which: 'lagging' },
    ],
    [
      { slow: 'follower:ahead' },
      { kind: 'slow', byMs: 5, forMs: 500 },
      { kind: 'follower', which: 'ahead' },
    ],
    [
      { slow: 'r2', by: '20ms', for: '1s' },
      { kind: 'slow', byMs: 20, forMs: 1_000 },
      { kind: 'slot', slot: 'r2' },
    ],
    [{ overrun: 'r1' }, { kind: 'overrun', entries: 0 }, { kind: 'slot', slot: 'r1' }],
    [{ overrun: 'leader', entries: '1e3' }, { kind: 'overrun', entries: 1_000 }, LEADER],
    [{ kill: 'leader', restartAfter: '1s' }, { kind: 'kill', restartMs: 1_000 }, LEADER],
    [{ outOfMemory: 'leader', restartAfter: '2ms' }, { kind: 'outOfMemory', restartMs: 2 }, LEADER],
    [{ failWrites: 'leader', restartAfter: '2ms' }, { kind: 'failWrites', restartMs: 2 }, LEADER],
    [{ failSync: 'leader' }, { kind: 'failSync' }, LEADER],
    [{ tornTail: 'leader', restartAfter: '2ms' }, { kind: 'tornTail', restartMs: 2 }, LEADER],
    [{ wipe: 'leader' }, { kind: 'wipe' }, LEADER],
    [{ slowDisk: 'leader' }, { kind: 'slowDisk', byMs: 50, forMs: 500 }, LEADER],
    [{ clockRate: 'leader', factor: '1.25', for: '1s' }, CLOCK, LEADER],
    [
      { failPropose: 'leader', rate: '0.02' },
      { kind: 'failPropose', dose: { perMillion: 20_000, forMs: 500 }, code: 'overrun' },
      { kind: 'leader' },
    ],
  ])('%j', (fault, action, target) => {
    expect(planned(fault)).toEqual([action, target]);
  });
});

describe('actions: links', () => {
  const isolated = (way: string, who: object): object => ({ kind: 'isolate', way, who });
  it.each<[unknown, object]>([
    ['isolate:leader', isolated('both', { kind: 'leader' })],
    ['from:r2', isolated('from', { kind: 'slot', slot: 'r2' })],
    ['to:follower:ahead', isolated('to', { kind: 'follower', which: 'ahead' })],
    ['minority:with-leader', { kind: 'minority', withLeader: true }],
    ['minority:without-leader', { kind: 'minority', withLeader: false }],
    ['bridge', { kind: 'shape', shape: 'bridge', who: null }],
    ['bridge:follower:ahead', { kind: 'shape', shape: 'bridge', who: AHEAD }],
    ['all', ALL],
    ['r1+r2/r3', { kind: 'sides', sides: [['r1', 'r2'], ['r3']] }],
    [[['r1'], ['r2']], { kind: 'sides', sides: [['r1'], ['r2']] }],
  ])('partition %j', (partition, links) => {
    expect(planned({ partition })).toEqual([
      { kind: 'partition', links, between: 'peers', forMs: 500 },
      null,
    ]);
  });

  it.each<[object, object]>([
    [{ latency: '20ms' }, { ...CALM, delayMinMs: 20, delayMaxMs: 20 }],
    [{ latency: '1ms..1.5s' }, { ...CALM, delayMinMs: 1, delayMaxMs: 1_500 }],
    [
      { loss: 0.1, duplicate: '.5', reorder: 1 },
      { ...CALM, lossPerMillion: 1e5, duplicatePerMillion: 5e5, reorderPerMillion: 1e6 },
    ],
  ])('link with %j', (trouble, planTrouble) => {
    expect(planned({ link: 'all', between: 'origin', for: '1s', ...trouble })).toEqual([
      { kind: 'link', links: ALL, between: 'origin', trouble: planTrouble, forMs: 1_000 },
      null,
    ]);
  });
});

describe('actions: origin', () => {
  it.each<[object, object]>([
    [{ refuseOpening: true }, { kind: 'refuseOpening', dose: { times: 1 } }],
    [
      { refuseOpening: true, rate: 0.25 },
      { kind: 'refuseOpening', dose: { perMillion: 250_000, forMs: 500 } },
    ],
    [
      { loseDeliveries: 'origin', times: 9 },
      { kind: 'loseDeliveries', dose: { times: 9 } },
    ],
    [
      { repeatDeliveries: true, rate: 0.5, for: '2s' },
      { kind: 'repeatDeliveries', dose: { perMillion: 5e5, forMs: 2_000 } },
    ],
    [{ stallOrigin: true }, { kind: 'stallOrigin', forMs: 500 }],
    [{ originDelete: '200..300' }, { kind: 'originDelete', range: { first: 200, last: 300 } }],
    [{ originDelete: 200 }, { kind: 'originDelete', range: { first: 200, last: 200 } }],
    [{ originPurge: 2001 }, { kind: 'originPurge', to: 2001 }],
    [{ originDelete: 'next:50' }, { kind: 'originDelete', range: { next: 50 } }],
    [{ originPurge: 500 }, { kind: 'originPurge', to: 500 }],
    [{ originPurge: 'next:5' }, { kind: 'originPurge', to: { next: 5 } }],
    [{ originExpire: '1e3' }, { kind: 'originExpire', count: 1_000 }],
    [{ originRecreate: 5 }, { kind: 'originRecreate', messages: 5 }],
  ])('%j', (fault, action) => {
    expect(planned(fault)).toEqual([action, null]);
  });
});

describe('actions: refused', () => {
  const selections =
    'one of isolate:TARGET, from:TARGET, to:TARGET, bridge:TARGET, minority:with-leader, ' +
    'minority:without-leader, ring, bridge, spurs, all, sides such as r1/r2';
  const sides = 'two sides or more, no slot twice, such as r1+r2/r3';
  it.each<[object, string]>([
    [{ flap: 'any' }, '.flap: "any" is not one of leader, r1, r2, r3'],
    [
      { partition: 'isolat:leader' },
      `.partition: "isolat:leader" is not ${selections}; did you mean isolate:leader?`,
    ],
    [
      { partition: 'isolate' },
      `.partition: "isolate" is not ${selections}; did you mean isolate:TARGET?`,
    ],
    [
      { partition: 'minority:withleader' },
      `.partition: "minority:withleader" is not ${selections}; did you mean minority:with-leader?`,
    ],
    [
      { partition: 'isolate:leadr' },
      '.partition: "leadr" is not one of leader, follower, follower:lagging, follower:ahead, any, ' +
        'r1, r2, r3; did you mean leader?',
    ],
    [{ partition: 'r1/r4' }, '.partition: "r4" is not one of r1, r2, r3; did you mean r1?'],
    [{ partition: 'r1/r1+r2' }, `.partition: "r1/r1+r2" is not ${sides}`],
    [{ partition: [['r1', 'r2']] }, `.partition: "r1+r2" is not ${sides}`],
    [{ partition: [['r1'], []] }, `.partition: "r1/" is not ${sides}`],
    [{ partition: [] }, `.partition: "" is not ${sides}`],
    [
      { partition: 5 },
      '.partition: 5 is not isolate:…, minority:…, ring, bridge, spurs, sides such as r1+r2/r3, ' +
        'or all',
    ],
    [{ link: 'all' }, ': "link" is not given with latency, loss, duplicate or reorder'],
    [{ link: 'all', loss: 0 }, ': "link" is not given with latency, loss, duplicate or reorder'],
    [{ link: 'all', loss: 1.1 }, '.loss: 1.1 is not a chance from 0 to 1'],
    [{ link: 'all', loss: '5%' }, '.loss: "5%" is not a chance from 0 to 1; did you mean 0.05?'],
    [
      { link: 'all', latency: '5ms..1ms' },
      '.latency: "5ms..1ms" is not a duration, or a range such as 20ms..50ms',
    ],
    [
      { link: 'all', latency: '5' },
      '.latency: "5" is not a duration with its unit, such as 250ms or 2s',
    ],
    [{ kill: 'leader', loss: 0.1 }, '.loss: "kill" is not a fault that takes it (link does)'],
    [
      { kill: 'leader', between: 'all' },
      '.between: "kill" is not a fault that takes it (partition, link do)',
    ],
    [
      { partition: 'bridge:leadr' },
      '.partition: "leadr" is not one of leader, follower, follower:lagging, follower:ahead, any, ' +
        'r1, r2, r3; did you mean leader?',
    ],
    [{ partition: 'ring' }, '.partition: "ring" is not possible with 3 replicas: it takes 5'],
    [{ partition: 'spurs' }, '.partition: "spurs" is not possible with 3 replicas: it takes 5'],
    [{ overrun: 'follower' }, '.overrun: "follower" is not one of leader, r1, r2, r3'],
    [{ overrun: 'leader', entries: -1 }, '.entries: -1 is not a whole number from 0 to 2^53-1'],
    [{ clockRate: 'leader' }, '.factor: missing, expected a factor from 0.1 to 10, such as 1.5'],
    [{ clockRate: 'r1', factor: 11 }, '.factor: 11 is not a factor from 0.1 to 10, such as 1.5'],
    [
      { clockRate: 'r1', factor: '2x' },
      '.factor: "2x" is not a factor from 0.1 to 10, such as 1.5',
    ],
    [
      { wipe: 'leader', restartAfter: '1s' },
      '.restartAfter: "wipe" is not a fault that takes it (kill, outOfMemory, failWrites, ' +
        'failSync, tornTail do)',
    ],
    [
      { tornTail: 'leader', restartAfter: '0ms' },
      '.restartAfter: "0ms" is not a duration above zero',
    ],
    [{ slow: 'leader', by: '0ms' }, '.by: "0ms" is not a duration above zero'],
    [{ failPropose: 'leader', rate: 0 }, '.rate: 0 is not a chance above zero'],
    [{ failPropose: 'leader', rate: 0.1, times: 2 }, '.times: 2 is not either times or rate'],
    [{ failPropose: 'leader', for: '1s' }, '.for: "1s" is not used with rate'],
    [
      { originDelete: '1..2..3' },
      '.originDelete: "1..2..3" is not sequences such as 200..300, or next:50',
    ],
    [{ originDelete: '9..5' }, '.originDelete: "9..5" is not a rising range such as 5..9'],
    [
      { originDelete: '2001..2002' },
      '.originDelete: 2001 is not within the origin, which ends at 2000',
    ],
    [{ originPurge: 2002 }, '.originPurge: 2002 is not at most 2001: the origin ends at 2000'],
    [{ link: 'all', loss: '10%' }, '.loss: "10%" is not a chance from 0 to 1; did you mean 0.1?'],
    [{ originPurge: 1 }, '.originPurge: "1" is not a whole number from 2 to 2^53-1'],
    [{ originPurge: 'next:0' }, '.originPurge: "0" is not a whole number from 1 to 2^53-1'],
    [{ originExpire: 0 }, '.originExpire: 0 is not a whole number from 1 to 2^53-1'],
    [{ originRecreate: 2e6 }, '.originRecreate: 2000000 is not a whole number from 1 to 1000000'],
    [{ stallOrigin: false }, '.stallOrigin: false is not true or origin'],
  ])('%j', (fault, message) => {
    expect(refusedPlan({ faults: [{ ...fault, ...AT }] })).toBe(`test: faults[0]${message}`);
  });
});
