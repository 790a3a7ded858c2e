/** Numbers that a shrinker tries in place of one. */

/** Whole numbers from `least` up to below `value`, a few of them: the least first. */
export function lower(value: number, least: number): number[] {
  const span = value - least;
  const parts = [0, 1, 2, 4, 6, 7].map((eighths) => least + Math.floor((span * eighths) / 8));
  return [...new Set(parts)].filter((part) => part < value);
}
