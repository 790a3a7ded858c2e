/**
 * The memory of one member: what arrives there is copied into it, so that no two members share
 * bytes. Copies are laid into larger pieces, as a buffer for each would cost more than its bytes;
 * between two of them is a gap, so that they never look like one.
 */
const PIECE_BYTES = 32 * 1024;
const GAP_BYTES = 8;

export class SimMemory {
  #piece = new Uint8Array(0);
  #at = 0;

  /** A copy at a multiple of 8; it never changes again. */
  copy(bytes: Uint8Array): Uint8Array {
    const size = bytes.length;
    if (size === 0) return bytes;
    if (size > PIECE_BYTES / 4) return bytes.slice();
    if (this.#at + size > this.#piece.length) {
      this.#piece = new Uint8Array(PIECE_BYTES);
      this.#at = 0;
    }
    const at = this.#at;
    this.#piece.set(bytes, at);
    this.#at = at + Math.ceil(size / 8) * 8 + GAP_BYTES;
    return new Uint8Array(this.#piece.buffer, at, size);
  }
}
