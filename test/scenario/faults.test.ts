import { describe, expect, it } from 'vitest';
import { FAULT_KINDS } from '../../src/scenario/schema.js';
import { planOf, refusedPlan } from './stage.js';

const AT = { at: '1s' };
const KINDS = FAULT_KINDS.join(', ');
const MEMBERS = 'leader, follower, follower:lagging, follower:ahead, any, r1, r2, r3';

describe('faults: kinds, targets, parameters', () => {
  it.each<[string, object, string]>([
    ['no kind', { ...AT }, `: "no kind of fault" is not exactly one of ${KINDS}`],
    [
      'two kinds',
      { kill: 'leader', freeze: 'leader', ...AT },
      `: "kill and freeze" is not exactly one of ${KINDS}`,
    ],
    [
      'a kind misspelt',
      { stepdown: 'leader', ...AT },
      ': "stepdown" is not a known key; did you mean stepDown?',
    ],
    [
      'a target misspelt',
      { kill: 'folower', ...AT },
      `.kill: "folower" is not one of ${MEMBERS}; did you mean follower?`,
    ],
    [
      'a slot that there is not',
      { freeze: 'r4', ...AT },
      `.freeze: "r4" is not one of ${MEMBERS}; did you mean r1?`,
    ],
    [
      'a follower cannot step down',
      { stepDown: 'follower', ...AT },
      '.stepDown: "follower" is not one of leader, r1, r2, r3',
    ],
    [
      'a follower proposes nothing',
      { failPropose: 'follower', ...AT },
      '.failPropose: "follower" is not one of leader, r1, r2, r3',
    ],
    [
      'dropConsumer of a replica',
      { dropConsumer: 'r1', ...AT },
      '.dropConsumer: "r1" is not true or origin',
    ],
    [
      'dropConsumer: false',
      { dropConsumer: false, ...AT },
      '.dropConsumer: false is not true or origin',
    ],
    [
      'successor misspelt',
      { stepDown: 'leader', to: 'bst', ...AT },
      '.to: "bst" is not one of best, none, r1, r2, r3; did you mean best?',
    ],
    [
      'successor that steps down',
      { stepDown: 'r1', to: 'r1', ...AT },
      '.to: "r1" is not another slot than its own target',
    ],
    [
      'parameter of another kind',
      { kill: 'leader', for: '1s', ...AT },
      '.for: "kill" is not a fault that takes it (freeze, slow, slowDisk, clockRate, ' +
        'partition, link, stallOrigin, failPropose, refuseOpening, loseDeliveries, ' +
        'repeatDeliveries do)',
    ],
    [
      'to of another kind',
      { kill: 'leader', to: 'r1', ...AT },
      '.to: "kill" is not a fault that takes it (stepDown does)',
    ],
    [
      'times of another kind',
      { kill: 'leader', times: 2, ...AT },
      '.times: "kill" is not a fault that takes it (failPropose, refuseOpening, ' +
        'loseDeliveries, repeatDeliveries do)',
    ],
    [
      'freeze for nothing',
      { freeze: 'leader', for: '0ms', ...AT },
      '.for: "0ms" is not a duration above zero',
    ],
    [
      'no times',
      { failPropose: 'leader', times: 0, ...AT },
      '.times: 0 is not a whole number from 1 to 2^53-1',
    ],
    [
      'a code that nobody refuses with',
      { failPropose: 'leader', code: 'notLeader', ...AT },
      '.code: "notLeader" is not one of overrun, writeFailed',
    ],
    [
      'a driver misspelt',
      { kill: 'leader', on: ['thread'], ...AT },
      '.on[0]: "thread" is not one of threads, sim, nats; did you mean threads?',
    ],
    [
      'no driver',
      { kill: 'leader', on: [], ...AT },
      '.on: an empty list is not a list of at least one',
    ],
  ])('%s', (_title, fault, message) => {
    expect(refusedPlan({ faults: [fault] })).toBe(`test: faults[0]${message}`);
  });
});

describe('faults: triggers', () => {
  it.each<[string, object, string]>([
    ['none', {}, ': "no trigger" is not exactly one of at, when, after'],
    [
      'two',
      { at: '1s', when: { term: 2 } },
      ': "at and when" is not exactly one of at, when, after',
    ],
    ['negative', { at: '-1s' }, '.at: "-1s" is not a duration with its unit, such as 250ms or 2s'],
    [
      'within a time',
      { at: '1s', within: '1s' },
      '.within: "1s" is not used here: it belongs to when',
    ],
    [
      'delay of a state',
      { when: { term: 2 }, delay: '1s' },
      '.delay: "1s" is not used here: it belongs to after',
    ],
    [
      'within nothing',
      { when: { term: 2 }, within: '0s' },
      '.within: "0s" is not a duration above zero',
    ],
    [
      'no state',
      { when: {} },
      '.when: "no state" is not exactly one of skipped, applied, term, role, appended, phase',
    ],
    [
      'two states',
      { when: { term: 2, skipped: 1 } },
      '.when: "skipped and term" is not exactly one of skipped, applied, term, role, appended, phase',
    ],
    [
      'a state misspelt',
      { when: { skiped: 1 } },
      '.when: "skiped" is not a known key; did you mean skipped?',
    ],
    [
      'a state of zero',
      { when: { skipped: 0 } },
      '.when.skipped: 0 is not a whole number from 1 to 2^53-1',
    ],
    [
      'a role',
      { when: { role: 'led' } },
      '.when.role: "led" is not one of leader, candidate, follower',
    ],
  ])('%s', (_title, trigger, message) => {
    expect(refusedPlan({ faults: [{ stepDown: 'leader', ...trigger }] })).toBe(
      `test: faults[0]${message}`,
    );
  });
});

describe('faults: references', () => {
  const stepDown = (fault: object): object => ({ stepDown: 'leader', ...fault });
  it.each<[string, object[], string]>([
    [
      'unknown',
      [{ id: 'sd', ...AT }, { after: 'sb' }],
      '[1].after: "sb" is not the id of another fault; did you mean sd?',
    ],
    ['itself', [{ id: 'a', after: 'a' }], '[0].after: "a" is not the id of another fault'],
    [
      'a circle',
      [
        { id: 'a', after: 'b' },
        { id: 'b', after: 'a' },
      ],
      '[0].after: "b" is not a fault that comes before: they wait for each other',
    ],
    [
      'behind a circle',
      [{ after: 'a' }, { id: 'a', after: 'b' }, { id: 'b', after: 'a' }],
      '[0].after: "a" is not a fault that comes before: they wait for each other',
    ],
    [
      'an id twice',
      [
        { id: 'a', ...AT },
        { id: 'a', ...AT },
      ],
      '[1].id: "a" is not used once only',
    ],
    [
      'an id that another has by its place',
      [{ id: 'faults[1]', ...AT }, AT],
      '[1].id: "faults[1]" is not used once only',
    ],
  ])('%s', (_title, faults, message) => {
    expect(refusedPlan({ faults: faults.map(stepDown) })).toBe(`test: faults${message}`);
  });

  it('a fault may be named before it is written', () => {
    const { faults } = planOf({ faults: [stepDown({ after: 'b' }), stepDown({ id: 'b', ...AT })] });
    expect(faults.map(({ trigger }) => trigger)).toEqual([
      { kind: 'after', fault: 'b', delayMs: 0, settled: false },
      { kind: 'time', atMs: 1_000 },
    ]);
  });
});

describe('faults: times against the load', () => {
  // The sentinel of 2,000 messages at 1,000 a second comes after 2 s.
  const sd = (fault: object): object => ({ stepDown: 'leader', ...fault });
  it('at the last message is the last time', () => {
    const { faults } = planOf({ faults: [sd({ at: '2s' })] });
    expect(faults.map(({ trigger }) => trigger)).toEqual([{ kind: 'time', atMs: 2_000 }]);
    expect(refusedPlan({ faults: [sd({ at: '2001ms' })] })).toBe(
      'test: faults[0].at: "2001ms" is not before the last message, which comes at 2s',
    );
  });

  it('relative to a time: the delays add up', () => {
    const chain = (delay: string): object => ({
      faults: [
        sd({ id: 'a', at: '1s' }),
        sd({ id: 'b', after: 'a', delay: '500ms' }),
        sd({ after: 'b', delay }),
      ],
    });
    expect(planOf(chain('500ms')).faults).toHaveLength(3);
    expect(refusedPlan(chain('501ms'))).toBe(
      'test: faults[2].delay: "2001ms" is not before the last message, which comes at 2s',
    );
  });

  it.each<[string, object]>([
    [
      'without a rate the end is not known',
      { origin: { synthetic: { messages: 10 } }, faults: [sd({ at: '1h' })] },
    ],
    [
      'behind a state neither',
      { faults: [sd({ id: 'a', when: { term: 2 } }), sd({ after: 'a', delay: '1h' })] },
    ],
  ])('%s', (_title, scenario) => {
    expect(planOf(scenario).faults.at(-1)?.trigger).toEqual(
      expect.objectContaining('origin' in scenario ? { atMs: 3_600_000 } : { delayMs: 3_600_000 }),
    );
  });
});

describe('faults: budget', () => {
  const kill = (target: string, fault: object = AT): object => ({ kill: target, ...fault });
  const lifted = 'tolerated; beyondQuorum lifts that';
  it.each<[string, object, string]>([
    [
      'two leaders of three',
      { faults: [kill('leader'), kill('leader')] },
      '"kill 2 of 3" is not within the 1',
    ],
    [
      'two slots of three',
      { faults: [kill('r1'), kill('r3')] },
      '"kill 2 of 3" is not within the 1',
    ],
    [
      'by role, whatever it is',
      { faults: [kill('leader'), kill('follower')] },
      '"kill 2 of 3" is not within the 1',
    ],
    [
      'three of five',
      { replicas: 5, faults: [kill('r1'), kill('r2'), kill('r3')] },
      '"kill 3 of 5" is not within the 2',
    ],
    ['one of one', { replicas: 1, faults: [kill('r1')] }, '"kill 1 of 1" is not within the 0'],
    [
      'a freeze of one',
      { replicas: 1, faults: [{ freeze: 'r1', ...AT }] },
      '"freeze 1 of 1" is not within the 0',
    ],
    [
      'on one driver only',
      { faults: [kill('leader', { ...AT, on: ['sim'] }), kill('leader')] },
      '"kill 2 of 3" is not within the 1',
    ],
  ])('%s', (_title, scenario, message) => {
    expect(refusedPlan(scenario)).toBe(`test: faults: ${message} ${lifted}`);
    expect(planOf({ ...scenario, beyondQuorum: true }).beyondQuorum).toBe(true);
  });

  it.each<[string, object[]]>([
    ['one slot twice', [kill('r1'), kill('r1')]],
    ['a slot that may have been the leader', [kill('r1'), kill('leader')]],
    [
      'one on each driver',
      [kill('leader', { ...AT, on: ['sim'] }), kill('leader', { ...AT, on: ['nats'] })],
    ],
    [
      'absent with what it waits for',
      [
        { id: 'a', stepDown: 'leader', ...AT, on: ['nats'] },
        kill('leader', { after: 'a' }),
        kill('leader', { ...AT, on: ['threads'] }),
      ],
    ],
    ['freezes end', [{ freeze: 'r1', ...AT }, { freeze: 'r2', ...AT }, kill('r3')]],
  ])('not certain, so allowed: %s', (_title, faults) => {
    expect(planOf({ faults }).faults).toHaveLength(faults.length);
  });
});
