/** The scenario files and the table of them, docs/scenarios.md, say the same. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { natsDriver } from '../../src/nats/driver.js';
import { parseScenario } from '../../src/scenario/parse.js';
import { threadsDriver } from '../../src/threads/driver.js';

const TABLE = readFileSync('docs/scenarios.md', 'utf8');
const read = (path: string): string => readFileSync(path, 'utf8');
const files = readdirSync('scenarios').filter((file) => file.endsWith('.yaml'));
const rows = TABLE.split('\n').flatMap((line) => {
  const cells = line.split('|').map((cell) => cell.trim());
  const link = /^\[([\w-]+)\]\((.*)\)$/.exec(cells[3] ?? '');
  return link === null
    ? []
    : [
        {
          id: cells[1]!,
          upstream: cells[2]!,
          name: link[1]!,
          to: link[2]!,
          threads: cells[4]!,
          nats: cells[6]!,
        },
      ];
});

describe('scenario files: docs/scenarios.md', () => {
  it('lists every file, each once, and no other', () => {
    expect(rows.map(({ name }) => `${name}.yaml`).sort()).toEqual([...files].sort());
    expect(rows.map(({ to }) => to)).toEqual(rows.map(({ name }) => `../scenarios/${name}.yaml`));
  });

  it.each(rows)('$name: file and row name the same case and the same reports', (row) => {
    const text = read(`scenarios/${row.name}.yaml`);
    const head = /^(?:#.*\n)+/.exec(text)![0].replaceAll('\n# ', ' ');
    const reports = row.upstream.match(/#\d+/g) ?? [];
    const isCase = /^[A-F]\d/.test(row.id);
    if (isCase) expect(head.startsWith(`# ${row.id},`)).toBe(true);
    if (isCase && !row.upstream.startsWith('derived')) {
      expect(reports.filter((report) => !head.includes(report))).toEqual([]);
    }
    const id = row.id.toLowerCase().replaceAll(/[()]/g, '').replaceAll(' ', '-');
    expect(row.name.startsWith(id)).toBe(true);
  });

  it.each(files)('%s: says what is right, with the numbers that it expects', (file) => {
    const text = read(`scenarios/${file}`);
    const { expect: expected } = parseScenario(text, file, read);
    expect(expected.state).not.toBeNull();
    const { first, last, messages, deleted } = expected.state!;
    const words = [
      `${first.toLocaleString('en')} to ${last.toLocaleString('en')}, `,
      `${messages.toLocaleString('en')} messages, `,
      `${deleted === 0 ? 'none' : deleted.toLocaleString('en')} deleted`,
    ];
    const head = /^(?:#.*\n)+/.exec(text)![0].replaceAll('\n# ', ' ');
    expect(head).toContain(words.join(''));
  });

  it.each(rows)('$name: played on threads, or not, as the row says', ({ name, threads }) => {
    const plan = parseScenario(read(`scenarios/${name}.yaml`), name, read);
    const reasons = plan.faults.flatMap(({ action }) => threadsDriver.cannot(action, plan) ?? []);
    const isOfJournals = reasons.every((reason) => reason === 'comes with the durable journal');
    expect(isOfJournals).toBe(true);
    expect(threads).toBe(reasons.length === 0 ? 'yes' : 'no: journal');
  });

  it.each(rows)('$name: real servers can play it, or not, as the row says', ({ name, nats }) => {
    const plan = parseScenario(read(`scenarios/${name}.yaml`), name, read);
    const faults = plan.faults.filter(({ on }) => on?.includes('nats') ?? true);
    const reasons = faults.flatMap(({ action, trigger }) => [
      natsDriver.cannot(action, plan),
      trigger.kind === 'state' ? natsDriver.cannotSee!(trigger.state) : null,
    ]);
    const kinds = faults.map(({ action }) => action.kind);
    const isPlayable =
      reasons.every((reason) => reason === null) &&
      plan.expect.covered.every((kind) => kinds.includes(kind));
    // One of them asks for a longer gap than any that is made there.
    const isTooLong = name === 'a2-range-100m';
    expect(nats).toMatch(isPlayable && !isTooLong ? /^(held|limit|differs)$/ : /^no$/);
  });

  it('names tests that exist', () => {
    const named = [...TABLE.matchAll(/`(test\/[^`]+)`/g)].map(([, path]) => path!);
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((path) => !existsSync(path))).toEqual([]);
  });
});
