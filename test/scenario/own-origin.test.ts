import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadHasher } from '../../src/base/hasher.js';
import { natsDriverOn } from '../../src/nats/driver.js';
import { loaded } from '../../src/scenario/own-origin.js';
import { planScenario } from '../../src/scenario/parse.js';
import { play } from '../../src/scenario/play.js';
import type { Plan } from '../../src/scenario/types.js';
import { simDriver } from '../../src/sim/driver.js';
import { threadsDriver } from '../../src/threads/driver.js';

const dir = mkdtempSync(join(tmpdir(), 'lockstep-own-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** A plan whose origin is a module of this text. */
function planOf(name: string, text: string, more: object = {}): Plan {
  const path = join(dir, `${name}.mjs`);
  writeFileSync(path, text);
  const { options, ...fields } = { options: null, ...more };
  const origin = { module: { path, options } };
  return planScenario({ version: 1, name: 'own', origin, ...fields }, 'test', () => '');
}

const MIXED = `export default async ({ first, count }) => ({
  name: 'OWN',
  messages: (function* () {
    for (let at = 0; at < count; at++) {
      const seq = first + at + (at >= count / 2 ? 40 : 0);
      yield { seq, subject: 'a.b', body: 'x'.repeat(at % 300), headers: at % 3 ? '' : 'NATS/1.0\\r\\n\\r\\n' };
    }
  })(),
});`;

describe('scenario: an origin of the user', () => {
  it('loaded: its messages, and the shape that they make', async () => {
    const { origin } = await loaded(planOf('m', MIXED, { options: { first: 5, count: 4 } }));
    expect(origin).toMatchObject({
      ...{ kind: 'own', name: 'OWN', rate: null, size: 3 },
      ...{ first: 5, last: 48, messages: 4, gaps: [{ first: 7, last: 46 }] },
    });
    const held = origin.kind === 'own' ? origin.held : [];
    const decoder = new TextDecoder();
    expect(
      held.map(({ seq, subject, headers, payload, timestamp }) => [
        seq,
        decoder.decode(subject),
        headers.length,
        decoder.decode(payload),
        timestamp - BigInt(seq) * 500n,
      ]),
    ).toEqual([
      [5, 'a.b', 12, '', 1_767_225_600_000_000_000n],
      [6, 'a.b', 0, 'x', 1_767_225_600_000_000_000n],
      [47, 'a.b', 0, 'xx', 1_767_225_600_000_000_000n],
      [48, 'a.b', 12, 'xxx', 1_767_225_600_000_000_000n],
    ]);
  });

  it.each([simDriver, threadsDriver])(
    'played on $name, with faults of what it holds',
    async (driver) => {
      const plan = planOf('played', MIXED, {
        options: { first: 100, count: 2_000 },
        faults: [
          { stepDown: 'leader', when: { applied: 500 } },
          { originDelete: 'next:20', when: { applied: 100 } },
        ],
      });
      const { summary } = await play(plan, { driver, hasher: await loadHasher(), replay: '' });
      expect(summary.reasons).toEqual([]);
      const { first, last, sentinel } = summary.origin;
      expect([first, last, sentinel]).toEqual([100, 2_140, 2_140]);
      expect(summary.replicas.map((copy) => [copy.first, copy.last])).toEqual(
        Array(3).fill([100, 2_140]),
      );
    },
  );

  it.each<[string, string, string]>([
    ['none', 'export const a = 1;', 'is not a module whose default export returns { name, mess'],
    ['throws', 'export default () => { throw new Error("no\\nshop"); };', 'it failed (no'],
    ['syntax', 'export default (', 'it failed ('],
    ['name', own("'a b'", "{ seq: 1, subject: 'a', body: '' }"), 'name: "a b" is not a name of'],
    ['empty', own("'A'", ''), '"no message" is not at least one message'],
    ['seq', own("'A'", "{ seq: 0, subject: 'a', body: '' }"), 'messages[0].seq: 0 is not a seq'],
    [
      'order',
      own("'A'", "{ seq: 2, subject: 'a', body: '' }, { seq: 2, subject: 'a', body: '' }"),
      'messages[1].seq: 2 is not above 2',
    ],
    ['subject', own("'A'", "{ seq: 1, subject: 'a b', body: '' }"), 'messages[0].subject: "a b"'],
    ['body', own("'A'", "{ seq: 1, subject: 'a', body: 7 }"), 'messages[0].body: 7 is not text'],
  ])('refused in one line: %s', async (name, text, why) => {
    const call = play(planOf(name, text), {
      ...{ driver: simDriver, hasher: await loadHasher(), replay: '' },
    });
    const error: unknown = await call.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'usage' });
    expect((error as Error).message).toContain(why);
    expect((error as Error).message).not.toContain('\n');
  });

  const TOO_MANY =
    'messages has no end, or too many: an origin of a module holds at most 9 messages and 2KiB';
  it.each<[string, string, string]>([
    ['hang', 'export default () => new Promise(() => {});', 'gave no stream within 50ms'],
    ['hangs-at-load', 'await new Promise(() => {});', 'gave no stream within 50ms'],
    ['endless', made('for (;;) yield { ...one, seq: one.seq++ };'), TOO_MANY],
    ['heavy', made("yield { ...one, body: 'x'.repeat(2_048) };"), TOO_MANY],
    ['late', made("throw new Error('no shop');"), 'it failed (no shop)'],
    [
      'a key that is none',
      made("yield { seq: 1, subject: 'a', body: '', header: 'NATS/1.0' };"),
      'messages[0]: "header" is not a known option; did you mean headers?',
    ],
    [
      'a key beside name and messages',
      "export default () => ({ name: 'A', messages: [], rate: 9 });",
      '"rate" is not a known option',
    ],
    [
      'timestamp',
      made("yield { seq: 1, subject: 'a', body: '', timestamp: 5 };"),
      'messages[0].timestamp: 5 is not nanoseconds since 1970, a bigint of 64 bits',
    ],
    [
      'timestamp-bits',
      made("yield { seq: 1, subject: 'a', body: '', timestamp: 2n ** 63n };"),
      'messages[0].timestamp: "9223372036854775808n" is not nanoseconds since 1970, ' +
        'a bigint of 64 bits',
    ],
    ['null', made('yield null;'), 'messages[0]: nothing is not a message'],
  ])('limited: %s', async (name, text, why) => {
    const limits = { withinMs: 50, messages: 9, bytes: 2_048 };
    const plan = planOf(name, text);
    const where = `origin.module: ${join(dir, `${name}.mjs`)}: `;
    await expect(loaded(plan, limits)).rejects.toMatchObject({
      code: 'usage',
      message: `${where}${why}`,
    });
  });

  it('on nats: a plan is checked before its origin is loaded', () => {
    const driver = natsDriverOn({ connection: {}, allowFaults: false, name: null });
    expect(() => driver.check!(planOf('unloaded', MIXED))).not.toThrow();
    expect(() => driver.check!(planOf('seven', MIXED, { replicas: 7 }))).toThrow('replicas: 7');
  });

  it('refused: no such file', async () => {
    const origin = { module: { path: 'nofile.js' } };
    const plan = planScenario({ version: 1, name: 'own', origin }, 'test', () => '');
    await expect(loaded(plan)).rejects.toThrow('origin.module: nofile.js: no such file');
  });
});

function own(name: string, messages: string): string {
  return `export default () => ({ name: ${name}, messages: [${messages}] });`;
}

/** A module whose messages are made by a generator with this body; `one` is the first one. */
function made(body: string): string {
  const one = "{ seq: 1, subject: 'a', body: '' }";
  return `export default () => ({ name: 'A', messages: (function* () {
    const one = ${one};
    ${body}
  })() });`;
}
