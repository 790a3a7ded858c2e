import { describe, expect, it } from 'vitest';
import { loadHasher } from '../../src/base/hasher.js';
import { ORIGIN_FRAME_MESSAGES_MAX } from '../../src/base/limits.js';
import { Feed, SegmentWriter, type Queued } from '../../src/nats/feed.js';
import { createPrng } from '../../src/base/prng.js';
import { OriginFaults } from '../../src/origin/faults.js';
import { expectedOf, validateMessages, viewOf } from '../../src/stream/layout.js';
import { ContentLedger } from '../../src/verdict/content-ledger.js';

const hasher = await loadHasher();
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const NO_BYTES: Uint8Array = new Uint8Array(0);

class Stage {
  readonly notes: string[] = [];
  readonly segments: Uint8Array[] = [];
  readonly faults = new OriginFaults(createPrng(1));
  readonly content = new ContentLedger(hasher);
  readonly feed = new Feed({
    consumer: 'c1',
    writer: new SegmentWriter((size) => {
      const segment = new Uint8Array(size);
      this.segments.push(segment);
      return segment;
    }),
    content: this.content,
    faults: this.faults,
    now: () => 0,
    note: (text) => this.notes.push(text),
  });

  deliver(seq: number, deliverySeq: number, payload = NO_BYTES): void {
    const reply = `$JS.ACK.S.c1.1.${seq}.${deliverySeq}.1000.${Math.max(0, 100 - deliverySeq)}`;
    this.raw(reply, NO_BYTES, payload);
  }

  raw(reply: string, headers = NO_BYTES, payload = NO_BYTES): void {
    this.feed.take({ subject: bytesOf('a'), reply: bytesOf(reply), headers, payload });
  }

  control(header: string, reply = ''): void {
    this.raw(reply, bytesOf(`NATS/1.0 100 x\r\n${header}\r\n\r\n`));
  }

  /** Everything that is queued, in short. */
  drain(): string[] {
    const queued: string[] = [];
    for (let next = this.feed.first; next !== undefined; next = this.feed.first) {
      queued.push(shown(next));
      this.feed.dropFirst();
    }
    return queued;
  }
}

function shown(queued: Queued): string {
  if (queued.kind === 'flow') return `flow ${queued.subject}`;
  const { bytes, count, deliverySeq, runs, pending, copies } = queued;
  validateMessages(bytes, count);
  expect(expectedOf(viewOf(bytes), 0) + 1).toBe(runs[0]!.first);
  const ranges = runs.map(({ first, last }) => `${first}-${last}`).join(',');
  return `${count} from ${deliverySeq}: ${ranges}, ${pending} wait${copies === 1 ? '' : ` x${copies}`}`;
}

describe('feed: pieces', () => {
  it('deliveries whose numbers follow each other are one piece, gaps or not', () => {
    const stage = new Stage();
    [1, 2, 5, 6, 9].forEach((seq, at) => stage.deliver(seq, at + 1));
    expect(stage.drain()).toEqual(['5 from 1: 1-2,5-6,9-9, 95 wait']);
    stage.deliver(10, 6);
    expect(stage.drain()).toEqual(['1 from 6: 10-10, 94 wait']);
  });

  it('a number that is missing or repeated, and a sequence that does not rise, end a piece', () => {
    const stage = new Stage();
    stage.deliver(1, 1);
    stage.deliver(3, 3);
    stage.deliver(3, 3);
    stage.deliver(2, 4);
    expect(stage.drain()).toEqual([
      ...['1 from 1: 1-1, 99 wait', '1 from 3: 3-3, 97 wait'],
      ...['1 from 3: 3-3, 97 wait', '1 from 4: 2-2, 96 wait'],
    ]);
  });

  it('a piece holds as many messages as a frame may, and lies in one segment', () => {
    const stage = new Stage();
    for (let seq = 1; seq <= ORIGIN_FRAME_MESSAGES_MAX + 1; seq++) stage.deliver(seq, seq);
    const most = ORIGIN_FRAME_MESSAGES_MAX;
    expect(stage.drain().map((piece) => piece.split(',')[0])).toEqual([
      ...[`${most} from 1: 1-${most}`, `1 from ${most + 1}: ${most + 1}-${most + 1}`],
    ]);
    const large = new Uint8Array(5 * 1024 * 1024);
    stage.deliver(9_001, 9_001, large);
    stage.deliver(9_002, 9_002, large);
    stage.deliver(9_003, 9_003, new Uint8Array(9 * 1024 * 1024));
    expect(stage.drain().map((piece) => piece.split(':')[0])).toEqual([
      ...['1 from 9001', '1 from 9002', '1 from 9003'],
    ]);
    expect(stage.segments.map(({ length }) => Math.floor(length / 1024 / 1024))).toEqual([
      ...[8, 8, 9],
    ]);
  });

  it('lost by a fault: digested, numbered, never queued; repeated: sent twice', () => {
    const stage = new Stage();
    stage.faults.lose(2);
    stage.faults.repeat(1);
    for (let seq = 1; seq <= 5; seq++) stage.deliver(seq, seq);
    expect(stage.drain()).toEqual(['1 from 3: 3-3, 97 wait x2', '2 from 4: 4-5, 95 wait']);
    expect(stage.content.records({ first: 1, last: 9 }).map(({ seq }) => seq)).toEqual([
      ...[1, 2, 3, 4, 5],
    ]);
  });

  it('more than fits is lost, not kept: the mirror sees it by the numbers', () => {
    const stage = new Stage();
    const large = new Uint8Array(16 * 1024 * 1024);
    for (let seq = 1; seq <= 7; seq++) stage.deliver(seq, seq, large);
    expect(stage.notes).toEqual([expect.stringContaining('the server ignores flow control')]);
    expect(stage.drain()).toHaveLength(5);
    stage.deliver(8, 8);
    expect(stage.drain()).toEqual(['1 from 8: 8-8, 92 wait']);
  });
});

describe('feed: control', () => {
  it('flow control is answered behind what came before it, once', () => {
    const stage = new Stage();
    stage.deliver(1, 1);
    stage.control('', '$JS.FC.S.c1.a');
    stage.control('Nats-Last-Consumer: 1\r\nNats-Consumer-Stalled: $JS.FC.S.c1.a');
    stage.deliver(2, 2);
    expect(stage.drain()).toEqual([
      ...['1 from 1: 1-1, 99 wait', 'flow $JS.FC.S.c1.a', '1 from 2: 2-2, 98 wait'],
    ]);
    // Its request was lost: the server says that it waits.
    stage.control('Nats-Consumer-Stalled: $JS.FC.S.c1.b');
    expect(stage.drain()).toEqual(['flow $JS.FC.S.c1.b']);
  });

  it('a heartbeat tells the last delivery number, once', () => {
    const stage = new Stage();
    expect(stage.feed.takeBeat()).toBeNull();
    stage.control('Nats-Last-Consumer: 41\r\nNats-Last-Stream: 99');
    stage.control('Nats-Last-Consumer: 42\r\nNats-Last-Stream: 99');
    expect([stage.feed.takeBeat(), stage.feed.takeBeat()]).toEqual([42, null]);
    stage.control('Nats-Last-Consumer: 99999999999999999999');
    expect(stage.feed.takeBeat()).toBeNull();
    expect(stage.drain()).toEqual([]);
  });

  it('a message that looks like control is a message', () => {
    const stage = new Stage();
    stage.raw('$JS.ACK.S.c1.1.7.1.0.0', bytesOf('NATS/1.0 100 x\r\n\r\n'));
    expect(stage.drain()).toEqual(['1 from 1: 7-7, 0 wait']);
  });

  it('a malformed reply subject is told once, and never a message', () => {
    const stage = new Stage();
    stage.raw('$JS.ACK.S.c1.1.-1.1.0.0');
    stage.raw('$JS.ACK.S.c1.1.18446744073709551615.1.0.0');
    stage.raw('elsewhere', NO_BYTES, bytesOf('x'));
    expect(stage.drain()).toEqual([]);
    expect(stage.notes).toEqual([
      'consumer c1: reply subject $JS.ACK.S.c1.1.-1.1.0.0: its stream sequence is no number from ' +
        '1 to 2^53-1',
    ]);
    expect(stage.content.records({ first: 1, last: 9 })).toEqual([]);
  });
});
