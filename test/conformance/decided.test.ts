/** Which runs are played again, and how often at most. */
import { expect, it, vi } from 'vitest';
import { playDecided } from '../../conformance/decided.js';
import type { PlayResult } from '../../src/scenario/play.js';
import type { FaultStatus, Verdict } from '../../src/verdict/types.js';

function ended(verdict: Verdict, text: string, ...statuses: FaultStatus[]): PlayResult {
  const faults = statuses.map((status) => ({ kind: 'flap', status }));
  const reasons = verdict === 'held' ? [] : [{ verdict, text }];
  return { summary: { verdict, faults }, reasons } as unknown as PlayResult;
}

const BUSY = 'machine too busy: r2 late by 1.3 s';

it.each([
  [1, ended('held', '', 'installed')],
  [1, ended('violated', 'lost at 3', 'uncovered')],
  [1, ended('stalled', 'nothing moved', 'skipped')],
  [1, ended('harness', 'a thread ended', 'skipped')],
  [1, ended('inconclusive', 'the time limit was hit', 'skipped')],
  [3, ended('inconclusive', BUSY, 'installed')],
  [3, ended('uncovered', 'it never came', 'installed', 'uncovered')],
  [3, ended('held', '', 'skipped')],
  [8, ended('held', '', 'indeterminate')],
])('decided: %i times at most: %j', async (times, result) => {
  vi.spyOn(console, 'log').mockReturnValue(undefined);
  const playOnce = vi.fn(() => Promise.resolve(result));
  expect(await playDecided(playOnce)).toBe(result);
  expect(playOnce).toHaveBeenCalledTimes(times);
});

it('decided: the first run that has an answer is the last one', async () => {
  vi.spyOn(console, 'log').mockReturnValue(undefined);
  const runs = [ended('inconclusive', BUSY), ended('stalled', 'nothing moved'), ended('held', '')];
  expect(await playDecided(() => Promise.resolve(runs.shift()!))).toEqual(
    ended('stalled', 'nothing moved'),
  );
});
