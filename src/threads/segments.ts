/**
 * Shared segments on their way between threads. A port hands out a new SharedArrayBuffer object
 * each time one is posted, so views of the same memory would look unrelated. Segments therefore
 * travel once a link, under an id of the run, and later messages carry {id, offset, length}. Bytes
 * that are not shared (skips, small commands) are cloned by the port.
 */
import { LockstepError } from '../base/errors.js';

/** A view into a segment that the receiver knows, or bytes of its own. */
export type PackedBytes =
  | Uint8Array
  | {
      readonly segment: number;
      readonly offset: number;
      readonly length: number;
    };

export interface SegmentCarrier {
  readonly segment: number;
  readonly memory: SharedArrayBuffer;
}

/** The segments that one thread knows; at most one object for each id, whoever sent it. */
export class SegmentTable {
  readonly #byId = new Map<number, SharedArrayBuffer>();
  readonly #ids = new Map<ArrayBufferLike, number>();

  /** Names a segment of this thread's own making. */
  add(segment: number, memory: SharedArrayBuffer): void {
    if (this.#byId.has(segment)) return;
    this.#byId.set(segment, memory);
    this.#ids.set(memory, segment);
  }

  idOf(memory: ArrayBufferLike): number | undefined {
    return this.#ids.get(memory);
  }

  memory(segment: number): SharedArrayBuffer {
    const memory = this.#byId.get(segment);
    if (memory === undefined) {
      throw new LockstepError('harness', `segment ${segment} was never sent`, {
        segment,
      });
    }
    return memory;
  }

  unpack(packed: PackedBytes): Uint8Array {
    if (packed instanceof Uint8Array) return packed;
    return new Uint8Array(this.memory(packed.segment), packed.offset, packed.length);
  }
}

/** The sending side of one link: remembers which segments its other end was given. */
export class SegmentSender {
  readonly #table: SegmentTable;
  readonly #given = new Set<number>();

  constructor(table: SegmentTable) {
    this.#table = table;
  }

  /** @param onNew  told of a segment that must travel before these bytes do */
  pack(bytes: Uint8Array, onNew: (carrier: SegmentCarrier) => void): PackedBytes {
    const segment = this.#table.idOf(bytes.buffer);
    if (segment === undefined) return bytes;
    if (!this.#given.has(segment)) {
      this.#given.add(segment);
      onNew({ segment, memory: this.#table.memory(segment) });
    }
    return { segment, offset: bytes.byteOffset, length: bytes.byteLength };
  }
}
