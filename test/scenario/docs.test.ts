/**
 * docs/faults.md and the README name every fault, and say what threads and nats do with each;
 * docs/scenarios.md names every key of a file.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { cannotOnServers } from '../../src/nats/cannot.js';
import { parseScenario } from '../../src/scenario/parse.js';
import { FAULT_KINDS, scenarioSchema } from '../../src/scenario/schema.js';
import { MEMBER_KINDS } from '../../src/scenario/target.js';
import type { FaultAction, FaultKind } from '../../src/scenario/types.js';
import { threadsDriver } from '../../src/threads/driver.js';
import { planOf } from './stage.js';

const FAULTS = readFileSync('docs/faults.md', 'utf8');
/** What makes no kind impossible by its parameters. */
const ANY = { to: 5, range: { first: 1, last: 2 }, between: 'peers' };
const [general = '', onNats = ''] = FAULTS.split('## On nats');
const rows = rowsOf(general);

function rowsOf(text: string): { readonly kind: string; readonly cells: readonly string[] }[] {
  return text.split('\n').flatMap((line) => {
    const cells = line.split('|').map((cell) => cell.trim());
    const kind = /^`(\w+)`$/.exec(cells[1] ?? '')?.[1];
    return kind === undefined ? [] : [{ kind, cells }];
  });
}

describe('docs: faults', () => {
  it('the tables have a row for every kind and no other', () => {
    expect(rows.map(({ kind }) => kind).sort()).toEqual([...FAULT_KINDS].sort());
  });

  it('the README names every kind', () => {
    const readme = readFileSync('README.md', 'utf8');
    expect(FAULT_KINDS.filter((kind) => !readme.includes(`\`${kind}\``))).toEqual([]);
  });

  it.each(Object.keys(MEMBER_KINDS) as FaultKind[])('%s: on threads as the table says', (kind) => {
    const cell = rows.find((row) => row.kind === kind)!.cells[5]!;
    const factor = kind === 'clockRate' ? { factor: 2 } : {};
    const plan = planOf({ faults: [{ [kind]: 'leader', at: '1s', ...factor }] });
    const cannot = threadsDriver.cannot(plan.faults[0]!.action, plan);
    expect(cannot ?? 'yes').toBe(cannot === null ? cell.split(',')[0] : cell);
  });

  it('the table of nats has a row for every kind, with the reason of what cannot be', () => {
    const plan = planOf({});
    const found = rowsOf(onNats).map(({ kind, cells }) => [kind, cells[2]!.split(/[,;] /)[0]]);
    const told = FAULT_KINDS.map((kind) => {
      const why = cannotOnServers({ ...ANY, kind } as unknown as FaultAction, plan, 'ours');
      return [kind, (why ?? 'yes').split(/[,;] /)[0]];
    });
    expect(found.sort()).toEqual(told.sort());
  });

  it.each([
    [1, 'an origin of one replica has nobody to hand over to: its leader keeps the consumer'],
    [3, null],
  ])("dropConsumer on somebody's servers, %d replicas", (replicas, why) => {
    const plan = planOf({ replicas, faults: [{ dropConsumer: 'origin', at: '1s' }] });
    expect(cannotOnServers(plan.faults[0]!.action, plan, 'theirs')).toBe(why);
    expect(cannotOnServers(plan.faults[0]!.action, plan, 'ours')).toBe(null);
  });
});

describe('docs: scenario files', () => {
  const page = readFileSync('docs/scenarios.md', 'utf8');
  const [writing = ''] = page.split('## Those that come with lockstep');

  it('the tables have a row for every key, of origins and expectations too', () => {
    const { origin, expect: expected, ...others } = scenarioSchema.shape;
    const keys = [
      ...[...Object.keys(others), 'origin', 'expect'],
      ...Object.keys(origin.shape),
      ...Object.keys(expected.unwrap().shape),
    ];
    expect(
      rowsOf(writing)
        .map(({ kind }) => kind)
        .sort(),
    ).toEqual(keys.sort());
  });

  it('the example is one', () => {
    const text = /```yaml\n([^`]+)```/.exec(writing)?.[1] ?? '';
    const plan = parseScenario(text, 'docs', () => '');
    expect(plan.faults.map(({ action: { kind }, id }) => [kind, id])).toEqual([
      ['stepDown', 'sd'],
      ['kill', 'faults[1]'],
    ]);
  });
});
