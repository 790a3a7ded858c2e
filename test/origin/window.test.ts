import { describe, expect, it } from 'vitest';
import {
  ORIGIN_WINDOW_BYTES,
  ORIGIN_WINDOW_MESSAGES,
  RECORD_BYTES_MAX,
} from '../../src/base/limits.js';
import { DeliveryWindow } from '../../src/origin/window.js';

const FREE_BYTES = ORIGIN_WINDOW_BYTES - RECORD_BYTES_MAX;

describe('window', () => {
  it('bytes: room while any record still fits, exactly', () => {
    const window = new DeliveryWindow();
    window.send(1, FREE_BYTES);
    expect(window.hasRoom).toBe(true);
    window.send(1, 1);
    expect(window.hasRoom).toBe(false);
    window.credit(0);
    expect(window.hasRoom).toBe(false);
    window.credit(1);
    expect(window.hasRoom).toBe(true);
  });

  it('messages: room for the rest of the window, none when it is full', () => {
    const window = new DeliveryWindow();
    window.send(ORIGIN_WINDOW_MESSAGES - 1, 8);
    expect([window.roomMessages, window.hasRoom]).toEqual([1, true]);
    window.send(1, 8);
    expect([window.roomMessages, window.hasRoom, window.lastDeliverySeq]).toEqual([
      0,
      false,
      ORIGIN_WINDOW_MESSAGES,
    ]);
  });

  it('credit in the middle of a frame: its messages count at once, its bytes with the last', () => {
    const window = new DeliveryWindow();
    window.send(10, FREE_BYTES + 1);
    window.credit(9);
    expect([window.roomMessages, window.hasRoom]).toEqual([ORIGIN_WINDOW_MESSAGES - 1, false]);
    window.credit(10);
    expect([window.roomMessages, window.hasRoom]).toEqual([ORIGIN_WINDOW_MESSAGES, true]);
  });

  it('thousands of frames: each gives its bytes back once', () => {
    const window = new DeliveryWindow();
    for (let frame = 0; frame < 5_000; frame++) {
      window.send(1, 8_192);
      if (frame % 700 === 699) window.credit(frame + 1);
    }
    window.credit(5_000);
    window.send(1, FREE_BYTES + 1);
    expect(window.hasRoom).toBe(false);
  });

  it('own bounds: messages and bytes that are left, room while the largest record fits', () => {
    const window = new DeliveryWindow({ messages: 3, bytes: 100, recordBytes: 40 });
    window.send(2, 60);
    expect([window.roomMessages, window.roomBytes, window.hasRoom]).toEqual([1, 40, true]);
    window.send(1, 1);
    expect([window.roomMessages, window.roomBytes, window.hasRoom]).toEqual([0, 39, false]);
    window.credit(2);
    expect([window.roomMessages, window.roomBytes, window.hasRoom]).toEqual([2, 99, true]);
  });
});
