/** What faults of links make of messages at the edge of a host, on a clock of the test's own. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createPrng } from '../../src/base/prng.js';
import type { LinkAction, LinkTrouble } from '../../src/scenario/types.js';
import { SharedConditions } from '../../src/threads/conditions.js';
import { Edge } from '../../src/threads/edge.js';

const LINK = { from: 0, to: 2 };
const CALM: LinkTrouble = {
  ...{ delayMinMs: 0, delayMaxMs: 0, lossPerMillion: 0 },
  ...{ duplicatePerMillion: 0, reorderPerMillion: 0 },
};
const ALL = { kind: 'all' } as const;
const CUT: LinkAction = { kind: 'partition', links: ALL, between: 'peers', forMs: 1 };

function trouble(with_: Partial<LinkTrouble>): LinkAction {
  return { kind: 'link', links: ALL, between: 'peers', trouble: { ...CALM, ...with_ }, forMs: 1 };
}

class Stage {
  readonly conditions = new SharedConditions(3);
  readonly edge = new Edge(this.conditions, LINK, createPrng(1));
  readonly arrived: number[] = [];

  begin(action: LinkAction): void {
    this.conditions.change([LINK], action, 1);
  }

  end(action: LinkAction): void {
    this.conditions.change([LINK], action, -1);
  }

  send(...messages: readonly number[]): void {
    for (const message of messages) this.edge.pass(() => this.arrived.push(message));
  }

  take(): number[] {
    return this.arrived.splice(0);
  }
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'hrtime'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('edge', () => {
  it('calm: sent at once; other links are not touched', () => {
    const stage = new Stage();
    stage.conditions.change([{ from: 2, to: 0 }], CUT, 1);
    expect(stage.edge.isCalm).toBe(true);
    stage.send(1, 2);
    expect(stage.take()).toEqual([1, 2]);
  });

  it('cut: dropped, until every cut is taken back', () => {
    const stage = new Stage();
    stage.begin(CUT);
    stage.begin(CUT);
    stage.send(1);
    stage.end(CUT);
    expect(stage.edge.isCalm).toBe(false);
    stage.send(2);
    stage.end(CUT);
    expect(stage.edge.isCalm).toBe(true);
    stage.send(3);
    expect(stage.take()).toEqual([3]);
  });

  it('late: in order, and what comes behind them waits too', () => {
    const stage = new Stage();
    const late = trouble({ delayMinMs: 10, delayMaxMs: 10 });
    stage.begin(late);
    stage.send(1, 2);
    stage.end(late);
    expect(stage.edge.isCalm).toBe(false);
    stage.send(3);
    expect(stage.take()).toEqual([]);
    vi.advanceTimersByTime(9);
    expect(stage.take()).toEqual([]);
    vi.advanceTimersByTime(2);
    expect(stage.take()).toEqual([1, 2, 3]);
    expect(stage.edge.isCalm).toBe(true);
  });

  it('a cut that falls while messages are late takes them too', () => {
    const stage = new Stage();
    stage.begin(trouble({ delayMinMs: 10, delayMaxMs: 10 }));
    stage.send(1);
    stage.begin(CUT);
    vi.advanceTimersByTime(20);
    stage.end(CUT);
    expect(stage.take()).toEqual([]);
  });

  it('lost always, doubled always', () => {
    const lossy = new Stage();
    lossy.begin(trouble({ lossPerMillion: 1_000_000 }));
    lossy.send(1, 2);
    expect(lossy.take()).toEqual([]);
    const doubling = new Stage();
    doubling.begin(trouble({ duplicatePerMillion: 1_000_000 }));
    doubling.send(1, 2);
    expect(doubling.take()).toEqual([1, 1, 2, 2]);
  });

  it('by chance: some, not all', () => {
    const stage = new Stage();
    stage.begin(trouble({ lossPerMillion: 300_000 }));
    for (let message = 0; message < 1_000; message++) stage.send(message);
    const { length } = stage.take();
    expect(length).toBeGreaterThan(600);
    expect(length).toBeLessThan(800);
  });

  it('overtaken: everything comes, not in order', () => {
    const stage = new Stage();
    const action = trouble({ reorderPerMillion: 500_000 });
    stage.begin(action);
    const sent = Array.from({ length: 40 }, (_, at) => at);
    stage.send(...sent);
    vi.advanceTimersByTime(50);
    const arrived = stage.take();
    expect(arrived).not.toEqual(sent);
    expect(arrived.sort((one, other) => one - other)).toEqual(sent);
  });

  it('closed: nothing comes any more', () => {
    const stage = new Stage();
    stage.begin(trouble({ delayMinMs: 5, delayMaxMs: 5, reorderPerMillion: 500_000 }));
    stage.send(1, 2, 3, 4);
    stage.edge.close();
    vi.advanceTimersByTime(100);
    expect([stage.take(), vi.getTimerCount()]).toEqual([[], 0]);
  });
});

describe('shared conditions', () => {
  it('two troubles on one link add up and end in turn; all threads see them', () => {
    const one = new SharedConditions(3);
    const other = new SharedConditions(3, one.memory);
    const late = trouble({ delayMinMs: 1, delayMaxMs: 2, lossPerMillion: 5 });
    const lossy = trouble({ lossPerMillion: 10, duplicatePerMillion: 3, reorderPerMillion: 4 });
    one.change([LINK], late, 1);
    other.change([LINK], lossy, 1);
    expect(other.trouble(LINK)).toEqual({
      ...{ delayMinUs: 1_000, delayMaxUs: 2_000, lossPerMillion: 15 },
      ...{ duplicatePerMillion: 3, reorderPerMillion: 4 },
    });
    other.change([LINK], late, -1);
    expect(one.trouble(LINK)).toEqual({
      ...{ delayMinUs: 0, delayMaxUs: 0, lossPerMillion: 10 },
      ...{ duplicatePerMillion: 3, reorderPerMillion: 4 },
    });
    one.change([LINK], lossy, -1);
    expect(other.isCalm(LINK)).toBe(true);
  });

  it('slow hosts: by member', () => {
    const one = new SharedConditions(2);
    const other = new SharedConditions(2, one.memory);
    one.slow(1, 1.5);
    other.slow(1, 2);
    expect([other.slowUs(0), other.slowUs(1)]).toEqual([0, 3_500]);
    one.slow(1, -1.5);
    expect([other.slowUs(0), other.slowUs(1)]).toEqual([0, 2_000]);
    expect(one.isCalm({ from: 2, to: 1 })).toBe(true);
  });
});
