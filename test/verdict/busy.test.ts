import { describe, expect, it } from 'vitest';
import { Busy } from '../../src/verdict/busy.js';

const TEXT = 'nothing moved';

describe('verdict: busy', () => {
  const cases: [string, [who: string, atMs: number, byMs: number][], string][] = [
    ['nothing was late', [], `stalled: ${TEXT}`],
    ['late before it', [['main', 999, 400]], `stalled: ${TEXT}`],
    ['late after it', [['main', 2_401, 400]], `stalled: ${TEXT}`],
    ['late into it', [['main', 1_000, 400]], 'inconclusive: machine too busy: main late by 0.4 s'],
    [
      'late from it on',
      [['main', 2_400, 400]],
      'inconclusive: machine too busy: main late by 0.4 s',
    ],
    [
      'several, the latest of them all',
      [
        ['r1', 1_500, 700],
        ['origin', 1_600, 1_250],
        ['main', 2_900, 850],
        ['r2', 1_700, 120],
      ],
      'inconclusive: machine too busy: origin late by 1.3 s',
    ],
  ];

  it.each(cases)('%s', (_, late, told) => {
    const busy = new Busy();
    for (const [who, atMs, byMs] of late) busy.add({ who, atMs, byMs });
    const { verdict, text } = busy.unlessLate(TEXT, 1_000, 2_000);
    expect(`${verdict}: ${text}`).toBe(told);
  });
});
