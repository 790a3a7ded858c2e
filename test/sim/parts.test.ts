import { describe, expect, it } from 'vitest';
import { createPrng } from '../../src/base/prng.js';
import type { Entry } from '../../src/raft/types.js';
import { Agenda } from '../../src/sim/agenda.js';
import { CALM, type LinkConditions } from '../../src/sim/conditions.js';
import { copyFrame, copyMessage } from '../../src/sim/copies.js';
import { SimLink } from '../../src/sim/link.js';
import { SimMemory } from '../../src/sim/memory.js';

describe('sim: agenda', () => {
  it('happens by time, then by order of entry; the clock stands at each moment', () => {
    const agenda = new Agenda();
    const happened: string[] = [];
    const note = (name: string) => () => happened.push(`${name} ${agenda.nowUs}`);
    for (const [name, atUs] of [
      ['c', 30],
      ['a', 10],
      ['b', 20],
      ['a again', 10],
    ] as const) {
      agenda.at(atUs, note(name));
    }
    agenda.at(20, () => {
      agenda.at(5, note('past'));
      agenda.after(5, note('later'));
    });
    agenda.at(41, note('not yet'));
    agenda.runUntil(40);
    expect(happened).toEqual(['a 10', 'a again 10', 'b 20', 'past 20', 'later 25', 'c 30']);
    expect([agenda.nowUs, agenda.nowMs, agenda.happened]).toEqual([40, 0.04, 7]);
  });

  it('a thousand moments in any order come out sorted', () => {
    const agenda = new Agenda();
    const prng = createPrng(3);
    const came: number[] = [];
    for (let count = 0; count < 1_000; count++) {
      const atUs = prng.below('at', 300);
      agenda.at(atUs, () => came.push(atUs));
    }
    agenda.runUntil(300);
    expect(came).toHaveLength(1_000);
    expect(came).toEqual([...came].sort((a, b) => a - b));
  });
});

describe('sim: link', () => {
  function carried(change: Partial<LinkConditions>): number[] {
    const agenda = new Agenda();
    const came: number[] = [];
    const ends = {
      copy: (value: number) => value,
      deliver: (value: number) => void came.push(value),
    };
    const link = new SimLink(agenda, createPrng(1), { ...CALM.peers, ...change }, ends);
    for (let value = 0; value < 200; value++) link.send(value, value);
    agenda.runUntil(1_000_000);
    return came;
  }
  const all = Array.from({ length: 200 }, (_, at) => at);

  it('calm: everything once, in order', () => {
    expect(carried({})).toEqual(all);
  });

  it('loss takes some, duplication doubles some, reordering changes the order alone', () => {
    const lost = carried({ lossPerMille: 200 });
    expect(lost.length).toBeLessThan(200);
    expect(lost.length).toBeGreaterThan(100);
    const doubled = carried({ duplicatePerMille: 200 });
    expect(doubled.length).toBeGreaterThan(200);
    expect([...new Set(doubled)]).toEqual(all);
    const reordered = carried({ reorderPerMille: 200, reorderMaxUs: 500 });
    expect(reordered).not.toEqual(all);
    expect([...reordered].sort((a, b) => a - b)).toEqual(all);
  });

  it('a cut loses what is under way too; mended, it carries again', () => {
    const agenda = new Agenda();
    const came: string[] = [];
    const ends = { copy: (text: string) => text, deliver: (text: string) => void came.push(text) };
    const link = new SimLink(agenda, createPrng(1), CALM.peers, ends);
    link.send('under way', 0);
    link.cut = true;
    link.send('cut off', 0);
    agenda.runUntil(1_000);
    link.cut = false;
    link.send('mended', agenda.nowUs);
    agenda.runUntil(2_000);
    expect(came).toEqual(['mended']);
  });

  it('bytes are copied at the crossing: no two ends share memory', () => {
    const bytes = Uint8Array.of(1, 2, 3);
    const entry: Entry = { term: 1, index: 1, kind: 'batch', count: 1, bytes };
    const memory = new SimMemory();
    const message = copyMessage(
      {
        type: 'append',
        from: 'r1.1',
        to: 'r2.1',
        term: 1,
        prevIndex: 0,
        prevTerm: 0,
        commit: 0,
        released: 0,
        entries: [entry],
      },
      memory,
    );
    const opening = { member: 'r1.1', term: 1, generation: 1 };
    const head = { type: 'deliver', opening, deliverySeq: 1, count: 1, pending: 0 } as const;
    const frame = copyFrame({ ...head, bytes }, memory);
    bytes.fill(9);
    opening.term = 7;
    expect(message).toMatchObject({ entries: [{ bytes: Uint8Array.of(1, 2, 3) }] });
    expect(frame).toMatchObject({ opening: { term: 1 }, bytes: Uint8Array.of(1, 2, 3) });
  });
});

describe('sim: memory', () => {
  it('copies: equal, at multiples of 8, never side by side, whatever their size', () => {
    const memory = new SimMemory();
    const sizes = [1, 8, 13, 0, 4_096, 8_192, 8_193, 24];
    const sources = sizes.map((size, at) => new Uint8Array(size).fill(at + 1));
    const copies: Uint8Array[] = [];
    for (let round = 0; round < 3; round++) {
      for (const source of sources) copies.push(memory.copy(source));
    }
    expect(copies).toEqual([...sources, ...sources, ...sources]);
    const filled = copies.filter(({ length }) => length > 0);
    expect(filled.every(({ byteOffset }) => byteOffset % 8 === 0)).toBe(true);
    const touching = filled.filter((copy) =>
      filled.some(
        (other) =>
          other.buffer === copy.buffer && other.byteOffset === copy.byteOffset + copy.length,
      ),
    );
    expect(touching).toEqual([]);
    expect(new Set(filled.map(({ buffer }) => buffer)).size).toBeLessThan(filled.length);
  });

  it('copies: what one is written over with shows in no other and not in its source', () => {
    const memory = new SimMemory();
    const source = Uint8Array.of(1, 2, 3);
    const [one, other] = [memory.copy(source), memory.copy(source)];
    one.fill(9);
    expect([source, one, other]).toEqual([
      Uint8Array.of(1, 2, 3),
      Uint8Array.of(9, 9, 9),
      Uint8Array.of(1, 2, 3),
    ]);
  });
});
