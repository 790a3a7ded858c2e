import { MessageChannel, receiveMessageOnPort, type MessagePort } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { loadHasher } from '../../src/base/hasher.js';
import type { ClusterEvent } from '../../src/scenario/driver.js';
import { ThreadCluster } from '../../src/threads/cluster.js';
import { SharedConditions } from '../../src/threads/conditions.js';
import { OriginWorker } from '../../src/threads/origin-worker.js';
import type { LiveSource, OriginReport, OriginStart } from '../../src/threads/protocol.js';
import { Pulse, type Late } from '../../src/threads/pulse.js';
import { planOf } from './stage.js';

/** Far beyond what a thread loses between two lines on a machine that is short of cores. */
const STILL_MS = 500;

function standStill(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STILL_MS);
}

/** Late by all of it, but for the two beats that are no lateness. */
function isThatLate({ byMs }: Late): boolean {
  return byMs >= STILL_MS - 20;
}

describe('threads: pulse', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  let nowMs = 1_000;
  /** Beats that come so long after one another: what is told of them. */
  function told(gaps: readonly number[], meanwhile: (pulse: Pulse) => void = () => undefined) {
    const late: Late[] = [];
    nowMs = 1_000;
    const pulse = new Pulse(
      (each) => late.push(each),
      () => nowMs,
    );
    pulse.start();
    for (const gap of gaps) {
      nowMs += gap;
      meanwhile(pulse);
      vi.advanceTimersByTime(10);
    }
    return { late, pulse };
  }

  it('on time, and as late as timers are: nothing', () => {
    expect(told([10, 11, 10, 19, 12, 10]).late).toEqual([]);
  });

  it('late once by much: told at once, counted from when it was due', () => {
    expect(told([10, 150, 10]).late).toEqual([{ atMs: 1_160, byMs: 140 }]);
  });

  it('late bit by bit: told once much of a second is lost', () => {
    expect(told([80, 80, 80, 80, 80]).late).toEqual([{ atMs: 1_320, byMs: 280 }]);
  });

  it('late at its end: told before it stops, and nothing after it', () => {
    const { late, pulse } = told([10]);
    nowMs += 500;
    pulse.stop();
    nowMs += 500;
    pulse.stop();
    vi.advanceTimersByTime(100);
    expect(late).toEqual([{ atMs: 1_510, byMs: 490 }]);
  });

  it('what was asked of the thread is excused, and nothing before it', () => {
    const { late } = told([500], (pulse) => {
      pulse.excuse(nowMs - 300);
    });
    expect(late).toEqual([{ atMs: 1_500, byMs: 190 }]);
  });
});

describe('threads: who is late', () => {
  it('main, when it stood still', async () => {
    const events: ClusterEvent[] = [];
    const small = planOf({ origin: { synthetic: { messages: 10 } } });
    await using cluster = await ThreadCluster.start(small, (event) => events.push(event));
    standStill();
    await cluster.halt();
    const late = events.filter((event) => event.kind === 'late').filter(isThatLate);
    expect(late.map(({ who }) => who)).toEqual(['main']);
  });

  it.each([
    ['the thread of a live origin, when it stood still', 'pump', 1],
    ['not while a thread carries out what was asked of it', 'dropConsumer', 0],
  ] as const)('%s', async (_, where, times) => {
    const source = stubborn(where);
    const worker = new OriginWorker(await loadHasher(), () => Promise.resolve(source));
    const { port1, port2 } = new MessageChannel();
    await worker.start(startOf(port2));
    worker.serve();
    worker.strike({ kind: 'dropConsumer' });
    await worker.halt();
    const reports = reportsOn(port1);
    port1.close();
    const late = reports.filter((report) => report.kind === 'late').filter(isThatLate);
    expect(late).toHaveLength(times);
  });
});

/** A live origin that blocks its thread in one of its calls. */
function stubborn(where: 'pump' | 'dropConsumer'): LiveSource {
  const source: Partial<LiveSource> = {
    last: 10,
    messages: 10,
    handedOut: 0,
    firstDeliveryMs: null,
    pump: () => {
      if (where === 'pump') standStill();
      return [];
    },
    nextDueMs: () => null,
    dropConsumer: () => {
      if (where === 'dropConsumer') standStill();
      return true;
    },
    close: () => Promise.resolve(),
  };
  return source as LiveSource;
}

function reportsOn(port: MessagePort): OriginReport[] {
  const reports: OriginReport[] = [];
  for (;;) {
    const received: { message: OriginReport } | undefined = receiveMessageOnPort(port);
    if (received === undefined) return reports;
    reports.push(received.message);
  }
}

function startOf(reports: OriginStart['reports']): OriginStart {
  const plan = planOf({ origin: { nats: { url: 'nats://h', stream: 'S' } } }).origin;
  const conditions = new SharedConditions(3).memory;
  const calm = { secrets: {}, seed: 1, timeScale: 1, faults: [], links: [] };
  return { ...calm, plan, conditions, reports };
}
