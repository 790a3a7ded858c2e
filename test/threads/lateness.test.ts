import { describe, expect, it } from 'vitest';
import { Lateness } from '../../src/threads/lateness.js';

/** Late by this much at each of these times: by how much it counted as late. */
function told(reports: readonly (readonly [byMs: number, atMs: number])[]): number[] {
  const lateness = new Lateness();
  return reports.map(([byMs, atMs]) => lateness.add(byMs, atMs));
}

describe('threads: lateness', () => {
  it('once by much: at once', () => {
    expect(
      told([
        [100, 0],
        [110, 50],
        [0, 100],
      ]),
    ).toEqual([0, 110, 0]);
  });

  it('by little, again and again within a second: what was lost of it, and then from the start', () => {
    const reports = [0, 100, 200, 300, 400, 500].map((atMs) => [70, atMs] as const);
    expect(told(reports)).toEqual([0, 0, 0, 280, 0, 0]);
  });

  it('by little, as timers are: never', () => {
    const reports = Array.from({ length: 100 }, (_, at) => [20, at * 100] as const);
    expect(Math.max(...told(reports))).toBe(0);
  });
});
