/** What a disk of the simulation keeps, and what of it a crash leaves. */
import { describe, expect, it } from 'vitest';
import { createPrng } from '../../src/base/prng.js';
import type { Entry, Persist } from '../../src/raft/types.js';
import { Agenda } from '../../src/sim/agenda.js';
import { MemoryDisk } from '../../src/sim/disk.js';
import { decodeWrite, encodeWrite } from '../../src/sim/journal.js';
import { hasher } from './stage.js';

describe('sim: disk', () => {
  function entryOf(index: number, term: number): Entry {
    return { term, index, kind: 'batch', count: 1, bytes: Uint8Array.of(index) };
  }

  function writeOf(ticket: number, term: number, ...entries: Entry[]): Persist {
    return { ticket, term, vote: 'r1.1', entries };
  }

  function stage(seed = 1): {
    agenda: Agenda;
    disk: MemoryDisk;
    ended: string[];
    write: (write: Persist) => void;
  } {
    const agenda = new Agenda();
    const speed = { writeMinUs: 10, writeMaxUs: 100 };
    const disk = new MemoryDisk(agenda, createPrng(seed), speed, hasher);
    const ended: string[] = [];
    const write = (persist: Persist): void => {
      disk.write(persist, agenda.nowUs, (ticket, error) => {
        ended.push(`${ticket} ${error?.code ?? 'durable'}`);
      });
    };
    return { agenda, disk, ended, write };
  }

  it('writes take time and complete in order; the written log is ahead of the durable one', () => {
    const { agenda, disk, ended, write } = stage();
    expect(disk.recover()).toBeNull();
    write(writeOf(1, 1, entryOf(1, 1), entryOf(2, 1)));
    write(writeOf(2, 2, entryOf(2, 2)));
    expect([ended, disk.lastIndex, disk.written.lastIndex]).toEqual([[], 0, 2]);
    expect([disk.written.termAt(1), disk.written.termAt(2)]).toEqual([1, 2]);
    agenda.runUntil(1_000);
    expect(ended).toEqual(['1 durable', '2 durable']);
    expect(disk.recover()).toEqual({
      term: 2,
      vote: 'r1.1',
      baseIndex: 0,
      baseTerm: 0,
      entries: [entryOf(1, 1), entryOf(2, 2)],
    });
  });

  it('torn: struck in the middle of the next write of entries, whose last record is found torn', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const { agenda, disk, ended, write } = stage(seed);
      let strikes = 0;
      disk.tearNext(() => {
        strikes++;
        disk.crash();
      });
      write(writeOf(1, 1));
      agenda.runUntil(200);
      expect([strikes, ended]).toEqual([0, ['1 durable']]);
      write(writeOf(2, 1, entryOf(1, 1), entryOf(2, 1)));
      agenda.runUntil(1_000);
      expect([strikes, ended, disk.torn]).toEqual([1, ['1 durable'], 1]);
      expect(disk.recover()!.entries).toEqual([entryOf(1, 1)]);
    }
  });

  it('torn: called off, even in the middle of the write, nothing strikes', () => {
    const { agenda, disk, ended, write } = stage();
    disk.tearNext(() => disk.crash());
    write(writeOf(1, 1, entryOf(1, 1)));
    disk.tearNext(null);
    agenda.runUntil(1_000);
    expect([ended, disk.torn, disk.lastIndex]).toEqual([['1 durable'], 0, 1]);
  });

  it('a crash keeps what was complete, loses or keeps what was under way, completes nothing', () => {
    const kept = new Set<number>();
    for (let seed = 1; seed <= 20; seed++) {
      const { agenda, disk, ended, write } = stage(seed);
      write(writeOf(1, 1, entryOf(1, 1)));
      agenda.runUntil(200);
      write(writeOf(2, 1, entryOf(2, 1)));
      write(writeOf(3, 1, entryOf(3, 1)));
      disk.crash();
      agenda.runUntil(1_000);
      expect(ended).toEqual(['1 durable']);
      expect(disk.written.lastIndex).toBe(disk.lastIndex);
      kept.add(disk.lastIndex);
    }
    expect([...kept].sort()).toEqual([1, 2, 3]);
  });

  it('a disk that refuses writes fails each until its member restarts, and holds none of them', () => {
    const { agenda, disk, ended, write } = stage();
    disk.failure = 'write';
    write(writeOf(1, 1, entryOf(1, 1)));
    write(writeOf(2, 1, entryOf(2, 1)));
    agenda.runUntil(1_000);
    expect(ended).toEqual(['1 writeFailed', '2 writeFailed']);
    expect(disk.recover()).toBeNull();
    disk.crash();
    expect(disk.recover()).toBeNull();
    write(writeOf(1, 1, entryOf(1, 1)));
    agenda.runUntil(2_000);
    expect(ended.at(-1)).toBe('1 durable');
  });

  it('a failed sync: what it was to make durable is there after a restart, or not', () => {
    const kept = new Set<number>();
    for (let seed = 1; seed <= 30; seed++) {
      const { agenda, disk, ended, write } = stage(seed);
      write(writeOf(1, 1, entryOf(1, 1)));
      agenda.runUntil(1_000);
      disk.failure = 'sync';
      write(writeOf(2, 1, entryOf(2, 1)));
      write(writeOf(3, 1, entryOf(3, 1)));
      agenda.runUntil(2_000);
      expect(ended).toEqual(['1 durable', '2 writeFailed', '3 writeFailed']);
      expect(disk.lastIndex).toBe(1);
      disk.crash();
      kept.add(disk.lastIndex);
    }
    expect([...kept].sort()).toEqual([1, 2, 3]);
  });

  it('a write cut in its middle leaves its first entries at most; recovery drops the torn one', () => {
    const kept = new Set<string>();
    for (let seed = 1; seed <= 60; seed++) {
      const { agenda, disk, write } = stage(seed);
      write(writeOf(1, 1, entryOf(1, 1), entryOf(2, 1), entryOf(3, 1)));
      agenda.runUntil(1_000);
      write({ ...writeOf(2, 2, entryOf(2, 2), entryOf(3, 2)), vote: 'r2.1' });
      disk.crash();
      const { term, vote, entries } = disk.recover()!;
      kept.add(`${term} ${vote}: ${entries.map((entry) => entry.term).join(' ')} ${disk.torn}`);
    }
    expect([...kept].sort()).toEqual([
      '1 r1.1: 1 1 1 0',
      '1 r1.1: 1 1 1 1',
      '2 r2.1: 1 1 1 1',
      '2 r2.1: 1 2 1',
      '2 r2.1: 1 2 2 0',
    ]);
  });
});

describe('sim: journal', () => {
  const entries: Entry[] = [
    { term: 3, index: 8, kind: 'noop', count: 0, bytes: new Uint8Array(0) },
    { term: 3, index: 9, kind: 'batch', count: 2, bytes: Uint8Array.of(1, 2, 3) },
  ];
  const write: Persist = { ticket: 4, term: 3, vote: 'r1.1', entries };
  const bytes = encodeWrite(write, hasher);

  it('a whole write is read back as it was', () => {
    const state = { term: 3, vote: 'r1.1' };
    expect(decodeWrite(bytes, hasher)).toEqual({ state, entries, isTorn: false });
    const voteless = encodeWrite({ ...write, vote: null, entries: [] }, hasher);
    const none = { state: { term: 3, vote: null }, entries: [], isTorn: false };
    expect(decodeWrite(voteless, hasher)).toEqual(none);
  });

  it('cut at any byte: whole records before the cut, nothing of the torn one', () => {
    const counts: string[] = [];
    for (let cut = 0; cut < bytes.length; cut++) {
      const { state, entries: left, isTorn } = decodeWrite(bytes.subarray(0, cut), hasher);
      expect(left).toEqual(entries.slice(0, left.length));
      counts.push(`${state === null ? 0 : 1 + left.length}${isTorn ? ' torn' : ''}`);
    }
    const edges = counts.filter((text) => !text.endsWith('torn'));
    expect(edges).toEqual(['0', '1', '2']);
    expect(counts).toEqual([...counts].sort());
  });

  it('any byte that is not as it was written ends what is read there', () => {
    for (let at = 0; at < bytes.length; at++) {
      const spoilt = bytes.slice();
      spoilt[at]! ^= 0x10;
      const { state, entries: left, isTorn } = decodeWrite(spoilt, hasher);
      expect(isTorn).toBe(true);
      expect(state === null ? 0 : 1 + left.length).toBe(at < 25 ? 0 : at < 58 ? 1 : 2);
    }
  });
});
