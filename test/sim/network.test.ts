/** What a fault does to links, and which directions the shapes of the network cut. */
import { describe, expect, it } from 'vitest';
import { createPrng } from '../../src/base/prng.js';
import { cutsOfShape, SHAPE_MEMBERS_MIN, type Cut } from '../../src/scenario/shapes.js';
import { Agenda } from '../../src/sim/agenda.js';
import { CALM } from '../../src/sim/conditions.js';
import { SimLink } from '../../src/sim/link.js';
import { cutsOfMask, cutsOfOne } from '../../src/sim/topology.js';

interface Stage {
  readonly agenda: Agenda;
  readonly link: SimLink<string>;
  /** What arrived, with its moment in microseconds. */
  readonly came: string[];
}

function stage(): Stage {
  const agenda = new Agenda();
  const came: string[] = [];
  const link = new SimLink<string>(agenda, createPrng(1), CALM.peers, {
    copy: (text) => text,
    deliver: (text) => void came.push(`${text} ${agenda.nowUs}`),
  });
  return { agenda, link, came };
}

describe('sim: link: clog', () => {
  it('holds what is under way and what is sent, then lets all of it go at once, in order', () => {
    const { agenda, link, came } = stage();
    link.send('under way', 0);
    link.clog(5_000);
    link.clog(4_000);
    for (const [at, text] of ['one', 'two', 'three'].entries()) link.send(text, at * 1_000);
    agenda.runUntil(4_999);
    expect(came).toEqual([]);
    agenda.runUntil(5_000);
    expect(came).toEqual(['under way 5000', 'one 5000', 'two 5000', 'three 5000']);
  });

  it('a cut that comes while it is clogged loses what it holds', () => {
    const { agenda, link, came } = stage();
    link.clog(5_000);
    link.send('held', 0);
    agenda.runUntil(1_000);
    link.cut = true;
    agenda.runUntil(6_000);
    expect(came).toEqual([]);
  });

  it('mended, it lets nothing wait; what it held comes at its time', () => {
    const { agenda, link, came } = stage();
    link.clog(5_000);
    link.send('held', 0);
    agenda.runUntil(1_000);
    link.mend(CALM.peers);
    link.send('new', agenda.nowUs);
    agenda.runUntil(6_000);
    expect(came.map((text) => text.split(' ')[0])).toEqual(['new', 'held']);
    expect(came[1]).toBe('held 5000');
  });
});

describe('sim: link: echo', () => {
  it('the next ones come once more, long after, and do not hold up what follows', () => {
    const { agenda, link, came } = stage();
    link.echo(2, 500_000);
    for (const text of ['one', 'two', 'three']) link.send(text, 0);
    agenda.runUntil(1_000);
    expect(came.map((text) => text.split(' ')[0])).toEqual(['one', 'two', 'three']);
    agenda.runUntil(600_000);
    expect(
      came
        .slice(3)
        .map((text) => text.split(' ')[0])
        .sort(),
    ).toEqual(['one', 'two']);
    expect(came.slice(3).every((text) => Number(text.split(' ')[1]) >= 500_000)).toBe(true);
  });
});

/** Who sees whom: for each member the others that it exchanges messages with. */
function seen(cuts: readonly Cut[], members: number): string[] {
  const cut = new Set(cuts.map(([from, to]) => `${from} ${to}`));
  const all = Array.from({ length: members }, (_, at) => at);
  return all.map((from) =>
    all
      .filter((to) => to !== from && !cut.has(`${from} ${to}`) && !cut.has(`${to} ${from}`))
      .join(''),
  );
}

describe('sim: topology', () => {
  it('spurs of five: 1, 2 and 3 see each other, 4 only 2 and 5 only 3', () => {
    expect(seen(cutsOfShape('spurs', 5, 0), 5)).toEqual(['12', '023', '014', '1', '2']);
    expect(seen(cutsOfShape('spurs', 7, 0), 7).slice(5)).toEqual(['1', '2']);
  });

  it('bridge: one member sees both halves', () => {
    expect(seen(cutsOfShape('bridge', 3, 0), 3)).toEqual(['1', '02', '1']);
    expect(seen(cutsOfShape('bridge', 5, 0), 5)).toEqual(['12', '02', '0134', '24', '23']);
  });

  it.each([4, 5, 6, 7])('ring of %i: everybody sees a majority, no two the same', (members) => {
    const sights = seen(cutsOfShape('ring', members, 0), members);
    const whole = sights.map((others, at) =>
      Array.from(others + String(at))
        .sort()
        .join(''),
    );
    expect(whole.every((sight) => sight.length * 2 > members)).toBe(true);
    expect(new Set(whole).size).toBe(members);
  });

  it('every shape cuts something from its least members on, wherever it is turned', () => {
    for (const shape of ['ring', 'bridge', 'spurs'] as const) {
      const members = SHAPE_MEMBERS_MIN[shape];
      const counts = Array.from(
        { length: members },
        (_, shift) => cutsOfShape(shape, members, shift).length,
      );
      expect(new Set(counts).size).toBe(1);
      expect(counts[0]).toBeGreaterThan(0);
    }
  });

  it('a mask and one member: both ways, or one', () => {
    expect(cutsOfMask(0b011, 'out', 3)).toEqual([
      [0, 2],
      [1, 2],
    ]);
    expect(cutsOfMask(0b011, 'both', 3)).toHaveLength(4);
    expect([cutsOfMask(0, 'both', 3), cutsOfMask(0b111, 'both', 3)]).toEqual([[], []]);
    expect(cutsOfOne(1, 'in', 3)).toEqual([
      [0, 1],
      [2, 1],
    ]);
    expect(cutsOfOne(1, 'out', 3)).toEqual([
      [1, 0],
      [1, 2],
    ]);
    expect(cutsOfOne(1, 'both', 3)).toHaveLength(4);
    expect(cutsOfOne(0, 'both', 1)).toEqual([]);
  });
});
