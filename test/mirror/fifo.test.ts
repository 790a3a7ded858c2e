import { expect, it } from 'vitest';
import { Fifo } from '../../src/mirror/fifo.js';
import { range } from './stage.js';

it('fifo: a thousand items, dropped one by one -> the rest in order at every point', () => {
  const fifo = new Fifo<number>();
  for (const item of range(1, 1_000)) fifo.push(item);
  const firsts = range(1, 1_000).map(() => {
    const seen = [fifo.length, fifo.at(0), fifo.at(fifo.length - 1)];
    fifo.dropFirst();
    return seen;
  });
  expect(firsts).toEqual(range(1, 1_000).map((item) => [1_001 - item, item, 1_000]));
  fifo.dropFirst();
  expect([fifo.length, fifo.at(0)]).toEqual([0, undefined]);
});

it('fifo: pushed while dropped from, and the last one replaced -> first in, first out', () => {
  const fifo = new Fifo<number>();
  const left: (number | undefined)[] = [];
  for (const item of range(1, 500)) {
    fifo.push(-item);
    fifo.replaceLast(item);
    if (item % 3 === 0) continue;
    left.push(fifo.at(0));
    fifo.dropFirst();
  }
  while (fifo.length > 0) {
    left.push(fifo.at(0));
    fifo.dropFirst();
  }
  expect(left).toEqual(range(1, 500));
});
