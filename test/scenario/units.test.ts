import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formatDuration,
  formatSize,
  parseCount,
  parseDuration,
  parsePositiveDuration,
  parseRate,
  parseSize,
} from '../../src/base/units.js';
import { refused } from './stage.js';

describe('units: durations', () => {
  it.each([
    ['0ms', 0],
    ['250ms', 250],
    ['2s', 2_000],
    ['1.5s', 1_500],
    ['1.005s', 1_005],
    ['10m', 600_000],
    ['500h', 1_800_000_000],
  ])('%s', (text, ms) => {
    expect(parseDuration('--for', text)).toBe(ms);
  });

  it.each(['', '5', 's', '-1s', '1 s', '1S', '1s ', '1e3ms', '.5s', '1.s', 'Infinityms', '1d'])(
    'refused: %j',
    (text) => {
      expect(refused(() => parseDuration('--for', text))).toBe(
        `--for: "${text}" is not a duration with its unit, such as 250ms or 2s`,
      );
    },
  );

  it('refused: a number, more than a timer holds, nothing where there must be some', () => {
    expect(refused(() => parseDuration('--for', 5))).toBe(
      '--for: 5 is not a duration with its unit, such as 250ms or 2s',
    );
    for (const text of ['501h', '1800000001ms', `${'9'.repeat(100)}s`]) {
      expect(refused(() => parseDuration('--for', text))).toBe(
        `--for: "${text}" is not a duration of at most 500h`,
      );
    }
    expect(parsePositiveDuration('--for', '1ms')).toBe(1);
    expect(refused(() => parsePositiveDuration('--for', '0m'))).toBe(
      '--for: "0m" is not a duration above zero',
    );
  });

  it.each([
    [0, '0ms'],
    [0.5, '0.5ms'],
    [999, '999ms'],
    [2_000, '2s'],
    [90_000, '90s'],
    [120_000, '2m'],
    [3_600_000, '1h'],
  ])('%d ms is written %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it('what is written is read as the same', () => {
    const microseconds = fc.integer({ min: 0, max: 1_800_000_000_000 });
    fc.assert(
      fc.property(microseconds, (us) => {
        expect(parseDuration('--for', formatDuration(us / 1_000))).toBe(us / 1_000);
      }),
      { seed: 1 },
    );
  });
});

describe('units: sizes', () => {
  it.each<[string | number, number]>([
    ['128', 128],
    [128, 128],
    ['7B', 7],
    ['64KiB', 65_536],
    ['1MiB', 1_048_576],
    ['2GiB', 2_147_483_648],
  ])('%j', (text, bytes) => {
    expect(parseSize('--size', text)).toBe(bytes);
  });

  it.each(['', '1KB', '1kib', '-1', '1.5KiB', '1e3', '9007199254740992', '9999999999GiB'])(
    'refused: %j',
    (text) => {
      expect(refused(() => parseSize('--size', text))).toBe(
        `--size: "${text}" is not a size in bytes, such as 128 or 64KiB`,
      );
    },
  );

  it('what is written is read as the same', () => {
    expect([0, 100, 1_024, 1_536, 3_145_728].map(formatSize)).toEqual([
      '0B',
      '100B',
      '1KiB',
      '1536B',
      '3MiB',
    ]);
    fc.assert(
      fc.property(fc.maxSafeNat(), (bytes) => {
        expect(parseSize('--size', formatSize(bytes))).toBe(bytes);
      }),
      { seed: 1 },
    );
  });
});

describe('units: counts and rates', () => {
  it.each<[string | number, number]>([
    ['100000', 100_000],
    ['1e6', 1_000_000],
    ['1E+6', 1_000_000],
    ['1.5e1', 15],
    ['100_000', 100_000],
    [7, 7],
    [1e21 / 1e15, 1_000_000],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ])('%j', (text, value) => {
    expect(parseCount('--n', text, { min: 1 })).toBe(value);
  });

  it.each([
    '',
    ' 1',
    '_1',
    '1_',
    '1__0',
    '0x10',
    '1.5',
    '-1',
    '1e-1',
    '1e400',
    '9007199254740992',
    'NaN',
    '0',
  ])('refused: %j', (text) => {
    expect(refused(() => parseCount('--n', text, { min: 1 }))).toBe(
      `--n: "${text}" is not a whole number from 1 to 2^53-1`,
    );
  });

  it('bounds are said', () => {
    expect(refused(() => parseCount('--n', 8, { min: 0, max: 7 }))).toBe(
      '--n: 8 is not a whole number from 0 to 7',
    );
    expect([undefined, '4e4'].map((rate) => parseRate('--rate', rate))).toEqual([null, 40_000]);
    expect(refused(() => parseRate('--rate', 0))).toBe(
      '--rate: 0 is not a whole number from 1 to 1000000000',
    );
  });
});
