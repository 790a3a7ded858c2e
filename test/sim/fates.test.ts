import { describe, expect, it } from 'vitest';
import { createPrng } from '../../src/base/prng.js';
import { Agenda } from '../../src/sim/agenda.js';
import { CALM, type LinkConditions } from '../../src/sim/conditions.js';
import type { LinkFate } from '../../src/sim/fates.js';
import { SimLink } from '../../src/sim/link.js';

interface Carried {
  readonly came: readonly string[];
  readonly fates: readonly LinkFate[];
}

/** Twenty messages, one each 10 us; when which of them arrived, and what did not. */
function carry(conditions: Partial<LinkConditions>, given: readonly LinkFate[] = []): Carried {
  const agenda = new Agenda();
  const came: string[] = [];
  const fates: LinkFate[] = [];
  const link = new SimLink<number>(
    agenda,
    createPrng(4),
    { ...CALM.peers, ...conditions },
    {
      copy: (value) => value,
      deliver: (value) => void came.push(`${agenda.nowUs} ${value}`),
      dropped: (value, why) => void came.push(`${agenda.nowUs} ${value} ${why}`),
    },
    { name: 'r1 to r2', given, onFate: (fate) => fates.push(fate) },
  );
  for (let value = 1; value <= 20; value++) {
    agenda.runUntil(value * 10);
    link.send(value, agenda.nowUs);
  }
  agenda.runUntil(1_000_000);
  return { came, fates };
}

const UNFAITHFUL = {
  lossPerMille: 200,
  duplicatePerMille: 300,
  reorderPerMille: 300,
  reorderMaxUs: 700,
};

describe('sim: fates', () => {
  it('what was drawn, given back to links that draw nothing -> the same at the same times', () => {
    const drawn = carry(UNFAITHFUL);
    expect(new Set(drawn.fates.map(({ fate }) => fate))).toEqual(
      new Set(['lost', 'doubled', 'overtaken']),
    );
    expect(carry({}, drawn.fates)).toEqual(drawn);
  });

  it('each kind strikes the message that it names, and no other', () => {
    const fixed = { delayMinUs: 1, delayMaxUs: 1 };
    const given: LinkFate[] = [
      { link: 'r1 to r2', nth: 2, fate: 'lost', byUs: 0 },
      { link: 'r1 to r2', nth: 3, fate: 'doubled', byUs: 5 },
      { link: 'r1 to r2', nth: 19, fate: 'overtaken', byUs: 20 },
      { link: 'r2 to r1', nth: 7, fate: 'lost', byUs: 0 },
    ];
    const { came, fates } = carry(fixed, given);
    const inOrder = Array.from({ length: 15 }, (_, at) => `${(at + 4) * 10 + 1} ${at + 4}`);
    expect(came).toEqual([
      ...['11 1', '20 2 lost', '31 3', '36 3'],
      ...inOrder,
      ...['201 20', '211 19'],
    ]);
    expect(fates).toEqual(given.slice(0, 3));
  });
});
