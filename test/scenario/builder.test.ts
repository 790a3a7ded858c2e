import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { fault, scenario, type FaultWords } from '../../src/scenario/builder.js';
import { planScenario } from '../../src/scenario/parse.js';
import { FAULT_KINDS, scenarioSchema, type FaultText } from '../../src/scenario/schema.js';
import type { FaultKind } from '../../src/scenario/types.js';
import { NO_FILES, planOf } from './stage.js';

const WHEN = { when: { applied: 5 } } as const;

/** One of each kind, with a parameter where there is one. */
const EACH: Readonly<Record<FaultKind, FaultText>> = {
  stepDown: fault.stepDown('leader', { to: 'r2', ...WHEN }),
  flap: fault.flap('r1', WHEN),
  kill: fault.kill('follower:lagging', { id: 'gone', ...WHEN }),
  overrun: fault.overrun('leader', { entries: 3, ...WHEN }),
  outOfMemory: fault.outOfMemory('any', WHEN),
  failWrites: fault.failWrites('follower', { restartAfter: '1s', ...WHEN }),
  failSync: fault.failSync('follower', { restartAfter: '1s', ...WHEN }),
  tornTail: fault.tornTail('r3', { restartAfter: '1s', ...WHEN }),
  wipe: fault.wipe('follower', WHEN),
  reload: fault.reload('leader', WHEN),
  metaStepDown: fault.metaStepDown('meta', WHEN),
  slowDisk: fault.slowDisk('any', { by: '5ms', for: '20ms', ...WHEN }),
  clockRate: fault.clockRate('leader', { factor: 1.5, for: '20ms', ...WHEN }),
  freeze: fault.freeze('follower:ahead', { for: '20ms', ...WHEN }),
  slow: fault.slow('leader', { by: '1ms', for: '20ms', ...WHEN }),
  failPropose: fault.failPropose('leader', { times: 2, code: 'writeFailed', ...WHEN }),
  partition: fault.partition('minority:with-leader', { between: 'all', ...WHEN }),
  link: fault.link('from:follower', { latency: '1ms..2ms', loss: 0.1, ...WHEN }),
  dropConsumer: fault.dropConsumer('origin', WHEN),
  refuseOpening: fault.refuseOpening('origin', { times: 2, ...WHEN }),
  loseDeliveries: fault.loseDeliveries('origin', { rate: 0.1, for: '20ms', ...WHEN }),
  repeatDeliveries: fault.repeatDeliveries('origin', { times: 3, ...WHEN }),
  stallOrigin: fault.stallOrigin('origin', { for: '20ms', ...WHEN }),
  originDelete: fault.originDelete('next:50', WHEN),
  originPurge: fault.originPurge(20, WHEN),
  originExpire: fault.originExpire(10, WHEN),
  originRecreate: fault.originRecreate(100, WHEN),
};

describe('scenario: builder', () => {
  it('builds what the main job says in its file, and nothing else', () => {
    const built = scenario('step-down in the middle of a skip', {
      replicas: 3,
      origin: {
        synthetic: {
          messages: 100_000,
          size: 128,
          rate: 40_000,
          gaps: [{ after: 40_000, count: 25_000 }],
        },
      },
      mirror: { skip: 'entries' },
      faults: [
        fault.stepDown('leader', {
          id: 'sd',
          when: { skipped: 10_000 },
          within: '30s',
          on: ['threads', 'sim'],
        }),
        fault.freeze('leader', { id: 'frozen', after: 'sd', delay: '300ms', for: '600ms' }),
        fault.kill('leader', { after: 'frozen', delay: '900ms' }),
        fault.stepDown('leader', { at: '1s', on: ['nats'] }),
        fault.freeze('leader', { id: 'stopped', at: '1300ms', for: '600ms', on: ['nats'] }),
        fault.kill('leader', { after: 'stopped', delay: '900ms' }),
      ],
      expect: {
        stallAtMost: { threads: '2s', sim: '2s', nats: '60s' },
        covered: ['stepDown', 'freeze', 'kill'],
        state: { first: 1, last: 125_001, messages: 100_001, deleted: 25_000 },
      },
    });
    expect(built).toEqual(parse(readFileSync('scenarios/main-job.yaml', 'utf8')));
  });

  it.each(FAULT_KINDS)('%s: has a word, and what it builds is planned as that kind', (kind) => {
    const built = EACH[kind];
    expect(Object.keys(built)).toContain(kind);
    expect(scenarioSchema.shape.faults.parse([built])).toEqual([built]);
    const { faults } = planOf({ faults: [built] });
    expect(faults.map(({ action }) => action.kind)).toEqual([kind]);
  });

  it('has a word for every kind and no other', () => {
    expect(Object.keys(fault)).toEqual([...FAULT_KINDS]);
  });

  it('strikes again and again', () => {
    const again = fault.kill('any', { id: 'k', at: '10ms', every: '5ms..9ms', repeat: 3 });
    const { faults } = planOf({ faults: [again], beyondQuorum: true });
    expect(faults.map(({ id }) => id)).toEqual(['k', 'k#2', 'k#3']);
  });

  it('what types cannot hold is refused when it is planned, in one line', () => {
    const built = scenario('a typo', {
      origin: { synthetic: { messages: 100 } },
      faults: [fault.freeze('leader', { at: '1 second' })],
    });
    expect(() => planScenario(built, 'typo.test.ts', NO_FILES)).toThrow(
      /^typo\.test\.ts: faults\[0\]\.at: .*1 second/,
    );
  });

  it('types: a target, a parameter or a trigger that does not go with the kind is an error', () => {
    const wrong = (words: FaultWords): FaultText[] => [
      // @ts-expect-error: only a leader can step down
      words.stepDown('follower', WHEN),
      // @ts-expect-error: nobody has this role
      words.kill('leeder', WHEN),
      // @ts-expect-error: not a selection of links
      words.partition('leader', WHEN),
      // @ts-expect-error: the origin is the only one
      words.dropConsumer('r1', WHEN),
      // @ts-expect-error: a kill does not end by itself
      words.kill('leader', { for: '1s', ...WHEN }),
      // @ts-expect-error: no trigger
      words.kill('leader', {}),
      // @ts-expect-error: two triggers
      words.kill('leader', { at: '1s', ...WHEN }),
      // @ts-expect-error: two states
      words.kill('leader', { when: { applied: 1, term: 2 } }),
      // @ts-expect-error: within belongs to when
      words.kill('leader', { at: '1s', within: '2s' }),
      // @ts-expect-error: every without repeat
      words.kill('leader', { at: '1s', every: '1s' }),
    ];
    expect(wrong(fault)).toHaveLength(10);
  });
});
