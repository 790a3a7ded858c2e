/** What is claimed of what was read, in the claim and in every format's first words. */
import { describe, expect, it } from 'vitest';
import { formatReplicas } from '../../src/report/replica-formats.js';
import { formatVerify } from '../../src/report/verify-formats.js';
import { claimOf, type Reading } from '../../src/verify/claims.js';
import { reportOf } from '../../src/verify/conclude.js';
import type { VerifyReport } from '../../src/verify/result.js';
import { compare, facts, messages } from './stage.js';

const WHOLE: Reading = {
  ...{ depth: 'full', from: 1, to: 20_000, reached: 20_000 },
  ...{ sample: null, resumedAt: null, servers: [[], []] },
};
const DRAWN = { ranges: [], drawn: { ranges: 3_000, length: 8, seenPart: 0.001 } };

async function report(
  reading: Partial<Reading> = {},
  ended: string | null = null,
): Promise<VerifyReport> {
  const held = messages(1, 2, 3, 4, 5);
  const sides = { origin: facts(held), mirror: facts(held, { name: 'M' }) };
  return reportOf({
    ...{ start: sides, end: sides, comparison: await compare(held, held) },
    reading: { ...WHOLE, to: 5, reached: 5, ...reading },
    backlog: { status: 'caught up', messages: 0, watchedMs: null },
    ...{ ended, notes: [], objects: [], load: { msgs: 10, bytes: 20, api_calls: 4 } },
  });
}

describe('verify: claims', () => {
  it.each<[string, Partial<Reading>, string]>([
    ['all of it', {}, 'every message from 1 to 20,000 was read on both sides'],
    ['ended early', { reached: 16_666 }, 'every message from 1 to 16,666 was read on both sides'],
    ['ended before the first', { reached: 0 }, 'nothing was compared'],
    ['ended below --from', { from: 1_000, reached: 999 }, 'nothing was compared'],
    ['empty', { to: 0, reached: 0 }, 'there is nothing to compare'],
    [
      'gone on with',
      { resumedAt: 16_667, servers: [['n1', 'n2'], []] },
      'every message from 1 to 20,000 was read on both sides (origin on n1 and n2, mirror on its ' +
        'leader); what lies below 16,667 was read in an earlier run',
    ],
    [
      'one by one',
      { depth: 'state', to: 200, reached: 200 },
      'every sequence from 1 to 200 was asked of both leaders, one by one',
    ],
    [
      'drawn',
      { depth: 'sample', sample: DRAWN },
      '3,000 ranges of 8 sequences drawn from 1 to 20,000: a loss that touches 0.1 % of ranges ' +
        'is seen with p = 0.95',
    ],
    [
      'drawn, ended early',
      { depth: 'sample', reached: 320, sample: DRAWN },
      'what was drawn from 1 to 320 was asked of both leaders, one by one',
    ],
    [
      'ended early, and what was drawn is not known',
      { depth: 'sample', reached: 320 },
      'what was drawn from 1 to 320 was asked of both leaders, one by one',
    ],
  ])('%s', (_title, reading, claim) => {
    expect(claimOf({ ...WHOLE, ...reading })).toBe(claim);
  });

  it.each<[string, Partial<Reading>, string | null, string, number[]]>([
    ['to the end', {}, null, 'identical: M, mirror of S, up to 5', [1, 5]],
    ['from', { from: 3 }, null, 'identical: M, mirror of S, from 3 to 5', [3, 5]],
    [
      'ended early',
      { reached: 4 },
      'it was interrupted',
      'inconclusive: M, mirror of S, up to 4: it was interrupted',
      [1, 4],
    ],
    [
      'ended at once',
      { from: 3, reached: 2 },
      'it was interrupted',
      'inconclusive: M, mirror of S, nothing compared: it was interrupted',
      [3, 2],
    ],
  ])('%s: the same in every format', async (_title, reading, ended, says, [from, to]) => {
    const all = await report(reading, ended);
    expect(formatVerify(all, 'text', false).split('\n')[0]).toBe(says);
    expect(formatVerify(all, 'nagios', false)).toMatch(/^(OK|UNKNOWN) [^|]+\|/);
    expect(formatVerify(all, 'nagios', false)).toContain(` ${says}|`);
    expect(JSON.parse(formatVerify(all, 'json', false))).toMatchObject({
      up_to: to,
      coverage: { from, to },
    });
    const prometheus = formatVerify(all, 'prometheus', false);
    expect(prometheus).toContain(`lockstep_verify_from{mirror="M",origin="S"} ${from}\n`);
    expect(prometheus).toContain(`lockstep_verify_up_to{mirror="M",origin="S"} ${to}\n`);
  });

  it('what a limit may have dropped: inconclusive, and told in every format', async () => {
    const [origin, mirror] = [messages(1, 9), messages(9)];
    const config = { name: 'M', max_msgs: 5 };
    const sides = { origin: facts(origin), mirror: facts(mirror, config) };
    const all = reportOf({
      ...{ start: sides, end: sides, comparison: await compare(origin, mirror, { config }) },
      reading: { ...WHOLE, to: 9, reached: 9 },
      backlog: { status: 'caught up', messages: 0, watchedMs: null },
      ...{ ended: null, notes: [], objects: [], load: { msgs: 10, bytes: 20, api_calls: 4 } },
    });
    const why = "the mirror's own rules may have removed 1 that it lacks: or not";
    const head = `inconclusive: M, mirror of S, up to 9: ${why}`;
    expect(all).toMatchObject({
      explained: [],
      unknown: [{ kind: 'unknown', first: 1, count: 1 }],
    });
    expect(formatVerify(all, 'text', false)).toContain(
      'unknown   1 unknown: 1: a limit of the mirror or an acknowledgement there may have removed it',
    );
    expect(formatVerify(all, 'nagios', false)).toBe(
      `UNKNOWN ${head}|differences=0 explained=0 unknown=1 backlog=0 compared=1\n`,
    );
    const { unknown, counts: byKind } = JSON.parse(formatVerify(all, 'json', false)) as Record<
      string,
      unknown
    >;
    expect([unknown, byKind]).toEqual([
      [{ kind: 'unknown', first: 1, last: 1, count: 1 }],
      { unknown: 1 },
    ]);
    expect(formatVerify(all, 'prometheus', false)).toContain('kind="unknown"} 1\n');
  });

  it.each<[string, object, Partial<Reading>, number | null, string]>([
    ['--to lies below all of it', {}, { from: 3, to: 2, reached: 2 }, null, 'inconclusive'],
    ['it was empty, and then it was not', {}, { from: 6, to: 5, reached: 5 }, 900, 'inconclusive'],
    ['both are empty', {}, { from: 6, to: 5, reached: 5 }, null, 'identical'],
    [
      'subjects that nobody can tell',
      { src: '>', dest: '{{left(1,2)}}' },
      {},
      null,
      'no difference seen',
    ],
  ])('%s', async (_title, transform, reading, watchedMs, result) => {
    const held = messages(1, 2, 3, 4, 5);
    const isRewritten = 'src' in transform;
    const mirror = { name: 'S', ...(isRewritten ? { subject_transforms: [transform] } : {}) };
    const sides = { origin: facts(held), mirror: facts(held, { name: 'M', mirror }) };
    const said = reportOf({
      ...{
        start: sides,
        end: sides,
        comparison: await compare(held, held, { config: { mirror } }),
      },
      reading: { ...WHOLE, to: 5, reached: 5, ...reading },
      backlog: { status: 'caught up', messages: 0, watchedMs },
      ...{ ended: null, notes: [], objects: [], load: { msgs: 10, bytes: 20, api_calls: 4 } },
    });
    expect(said.result).toBe(result);
  });

  it('of a mirror with replicas: JSON has the reasons of both', async () => {
    const mirror = await report();
    const replicas = { result: 'inconclusive', reason: 'n3 was not read (offline)' };
    const lists = { differences: [], behind: [], explained: [], unconfirmed: [] };
    const outcome = { result: 'inconclusive', mirror, replicas: { ...replicas, ...lists } };
    expect(JSON.parse(formatReplicas(outcome as never, 'json', false))).toMatchObject({
      ...{ result: 'inconclusive', reason: 'n3 was not read (offline)' },
      agreement: replicas,
    });
  });
});
