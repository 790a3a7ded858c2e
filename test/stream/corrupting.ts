/**
 * A deliberate bug: a store that changes one byte of one message on its way in. It copies first,
 * because the bytes belong to every replica. The judge's digests must show it.
 */
import {
  expectedOf,
  KIND_MESSAGE,
  recordKind,
  recordSize,
  viewOf,
} from '../../src/stream/layout.js';
import { FIXED_BYTES } from '../../src/stream/layout.js';
import { Store } from '../../src/stream/store.js';
import type { ApplyOutcome } from '../../src/stream/types.js';
import type { Hasher } from '../../src/base/hasher.js';

export class CorruptingStore extends Store {
  readonly #seq: number;

  constructor(options: { readonly hasher: Hasher; readonly seq: number }) {
    super(options);
    this.#seq = options.seq;
  }

  override apply(bytes: Uint8Array, count: number): ApplyOutcome {
    const copy = bytes.slice();
    const view = viewOf(copy);
    for (let at = 0; at < copy.length; at += recordSize(view, at)) {
      if (recordKind(view, at) !== KIND_MESSAGE) continue;
      if (expectedOf(view, at) + 1 === this.#seq) copy[at + FIXED_BYTES]! ^= 1;
    }
    return super.apply(copy, count);
  }
}
