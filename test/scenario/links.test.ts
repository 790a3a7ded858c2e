import { describe, expect, it } from 'vitest';
import {
  isKnownToLeader,
  selectionText,
  touchedLinks,
  type Standing,
} from '../../src/scenario/links.js';
import type { Between, LinkAction, LinkSelection } from '../../src/scenario/types.js';

const LEADER = { kind: 'leader' } as const;
const EVERY = '1>2 1>3 2>1 2>3 3>1 3>2';

const RING: LinkSelection = { kind: 'shape', shape: 'ring', who: null };
const BRIDGE = { kind: 'shape', shape: 'bridge', who: null } as const;

const TROUBLE = {
  ...{ delayMinMs: 1, delayMaxMs: 1, lossPerMillion: 0 },
  ...{ duplicatePerMillion: 0, reorderPerMillion: 0 },
};

function standing(replicas: number, leader: number | null): Standing {
  const slots = Array.from({ length: replicas }, (_, at) => `r${at + 1}`);
  return {
    slots,
    leader,
    positionOf: (target) => {
      if (target.kind === 'slot') return slots.indexOf(target.slot);
      return target.kind === 'leader' ? leader : null;
    },
  };
}

function partition(links: LinkSelection, between: Between = 'peers'): LinkAction {
  return { kind: 'partition', links, between, forMs: 1 };
}

/** Links as `1>2`, the origin as `o`, and who is apart. */
function touched(action: LinkAction, replicas = 3, leader: number | null = 0): unknown {
  const found = touchedLinks(action, standing(replicas, leader));
  if (found === null) return null;
  const name = (at: number): string => (at === replicas ? 'o' : String(at + 1));
  return [
    found.links.map(({ from, to }) => `${name(from)}>${name(to)}`).join(' '),
    found.apart.map(name).join(' '),
  ];
}

describe('links: which a fault touches', () => {
  it.each<[string, LinkSelection, string, string]>([
    ['isolate', { kind: 'isolate', who: LEADER, way: 'both' }, '1>2 1>3 2>1 3>1', '1'],
    ['what it sends', { kind: 'isolate', who: LEADER, way: 'from' }, '1>2 1>3', '1'],
    ['what it is sent', { kind: 'isolate', who: LEADER, way: 'to' }, '2>1 3>1', '1'],
    ['minority with leader', { kind: 'minority', withLeader: true }, '1>2 1>3 2>1 3>1', '1'],
    ['minority without', { kind: 'minority', withLeader: false }, '2>1 2>3 1>2 3>2', '2'],
    ['sides', { kind: 'sides', sides: [['r1', 'r3'], ['r2']] }, '1>2 3>2 2>1 2>3', '2'],
    ['who is named on no side is one', { kind: 'sides', sides: [['r1'], ['r2']] }, EVERY, '2 3'],
    ['all', { kind: 'all' }, EVERY, '2 3'],
  ])('%s', (_title, links, crossing, apart) => {
    expect(touched(partition(links))).toEqual([crossing, apart]);
  });

  it.each<[string, LinkSelection, number, string, string, string]>([
    ['ring', RING, 5, 'ring', '3 4', ''],
    ['ring', RING, 7, 'ring', '4 5', ''],
    ['bridge', BRIDGE, 3, 'bridge', '3', ''],
    ['bridge', BRIDGE, 5, 'bridge', '4 5', ''],
    ['bridge of the leader', { ...BRIDGE, who: LEADER }, 5, 'bridge:r1', '2 3', ''],
    ['spurs', { ...BRIDGE, shape: 'spurs' }, 5, 'spurs', '4 5', 'r4 r5'],
    ['spurs', { ...BRIDGE, shape: 'spurs' }, 7, 'spurs', '6 7', 'r6 r7'],
  ])('%s: what it is called, who may not be missed, who is left without a majority', (...row) => {
    const [, links, replicas, text, apart, outvoted] = row;
    const found = touchedLinks(partition(links), standing(replicas, 0))!;
    expect(found.parted).toEqual({
      text,
      outvoted: outvoted === '' ? [] : outvoted.split(' '),
    });
    expect(found.apart.map((at) => at + 1).join(' ')).toBe(apart);
    const none = touchedLinks({ ...partition(links), between: 'origin' }, standing(replicas, 0))!;
    expect(none.apart).toEqual([]);
  });

  it('a bridge: two halves, and one member that sees both', () => {
    expect(touched(partition(BRIDGE))).toEqual(['1>3 3>1', '3']);
    expect(touched(partition({ ...BRIDGE, who: LEADER }))).toEqual(['2>3 3>2', '2']);
    expect(touched(partition({ ...BRIDGE, who: LEADER }), 3, null)).toBeNull();
  });

  it('of five: the leader and one more are a minority', () => {
    const [, apart] = touched(partition({ kind: 'minority', withLeader: true }), 5, 3) as string[];
    expect(apart).toBe('4 1');
  });

  it('the origin: of those that are set apart, one way or both; of all', () => {
    const isolate = { kind: 'isolate', who: LEADER } as const;
    expect(touched(partition({ ...isolate, way: 'both' }, 'origin'))).toEqual(['1>o o>1', '']);
    expect(touched(partition({ ...isolate, way: 'from' }, 'origin'))).toEqual(['1>o', '']);
    expect(touched(partition({ ...isolate, way: 'to' }, 'all'))).toEqual(['2>1 3>1 o>1', '1']);
    expect(touched(partition({ kind: 'all' }, 'origin'))).toEqual(['1>o o>1 2>o o>2 3>o o>3', '']);
  });

  it('a link in trouble sets nobody apart', () => {
    const links = { kind: 'all' } as const;
    const action = { kind: 'link', links, between: 'peers', trouble: TROUBLE, forMs: 1 } as const;
    expect(touched(action)).toEqual([EVERY, '']);
  });

  it('who is parted from whom, and who is left without a majority', () => {
    const told = (action: LinkAction, replicas = 3): unknown => {
      const { text, outvoted } = touchedLinks(action, standing(replicas, 0))!.parted;
      return [text, outvoted.join(' ')];
    };
    const alone = (way: 'both' | 'from' | 'to'): LinkSelection => {
      return { kind: 'isolate', who: LEADER, way };
    };
    const sides: LinkSelection = {
      kind: 'sides',
      sides: [
        ['r2', 'r3'],
        ['r1', 'r4'],
      ],
    };
    expect(told(partition(alone('both')))).toEqual(['r1 | r2 r3', 'r1']);
    expect(told(partition(alone('from')))).toEqual(['from r1 to r2 r3', 'r1']);
    expect(told(partition(alone('to'), 'all'))).toEqual(['to r1 from r2 r3 origin', 'r1']);
    expect(told(partition(alone('both'), 'origin'))).toEqual(['r1 | origin', '']);
    expect(told(partition(alone('both'), 'all'))).toEqual(['r1 | r2 r3 origin', 'r1']);
    expect(told(partition(sides), 5)).toEqual(['r2 r3 | r1 r4 | r5', 'r2 r3 r1 r4 r5']);
    expect(told(partition({ kind: 'all' }))).toEqual(['r1 | r2 | r3', 'r1 r2 r3']);
    expect(told(partition({ kind: 'all' }, 'all'))).toEqual(['r1 | r2 | r3 | origin', 'r1 r2 r3']);
    expect(told(partition({ kind: 'all' }, 'origin'))).toEqual(['r1 r2 r3 | origin', '']);
    const action = { ...partition(alone('both')), kind: 'link', trouble: TROUBLE } as LinkAction;
    expect(told(action)).toEqual(['links of r1', '']);
    expect(told({ ...action, between: 'origin' })).toEqual(['r1 | origin', '']);
    expect(told({ ...action, links: { kind: 'minority', withLeader: true } })).toEqual([
      'r1 | r2 r3',
      '',
    ]);
  });

  it('a selection that was not resolved reads as it is written', () => {
    const texts: [LinkSelection, string][] = [
      [
        { kind: 'isolate', who: { kind: 'follower', which: 'ahead' }, way: 'both' },
        'isolate:follower:ahead',
      ],
      [{ kind: 'isolate', who: LEADER, way: 'to' }, 'to:leader'],
      [{ kind: 'minority', withLeader: false }, 'minority:without-leader'],
      [{ kind: 'sides', sides: [['r1', 'r2'], ['r3']] }, 'r1 r2 | r3'],
      [{ ...BRIDGE, who: { kind: 'any' } }, 'bridge:any'],
      [RING, 'ring'],
      [{ kind: 'all' }, 'all'],
    ];
    expect(texts.map(([links]) => selectionText(links))).toEqual(texts.map(([, text]) => text));
  });

  it('nobody leads: what names the leader has no object', () => {
    const isolate = { kind: 'isolate', who: LEADER, way: 'both' } as const;
    const minority = { kind: 'minority', withLeader: false } as const;
    expect(touched(partition(isolate), 3, null)).toBeNull();
    expect(touched(partition(minority), 3, null)).toBeNull();
    expect(touched(partition({ kind: 'all' }), 3, null)).toEqual([EVERY, '2 3']);
  });

  it('what the leader can tell alone', () => {
    const isolate = (who: LinkSelection & { kind: 'isolate' }): boolean =>
      isKnownToLeader(partition(who));
    const way = 'both';
    expect([
      isolate({ kind: 'isolate', who: LEADER, way }),
      isolate({ kind: 'isolate', who: { kind: 'slot', slot: 'r2' }, way }),
      isolate({ kind: 'isolate', who: { kind: 'any' }, way }),
      isolate({ kind: 'isolate', who: { kind: 'follower', which: 'first' }, way }),
      isKnownToLeader(partition({ kind: 'minority', withLeader: true })),
      isKnownToLeader(partition(RING)),
      isKnownToLeader(partition({ ...BRIDGE, who: { kind: 'any' } })),
    ]).toEqual([true, true, false, false, true, true, false]);
  });
});
