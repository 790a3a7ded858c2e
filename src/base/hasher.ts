/**
 * xxh64 as a value that is handed to pure code. Loading WebAssembly is asynchronous, so the roots
 * (workers, command line, tests) load it once and pass it down.
 */
import xxhash from 'xxhash-wasm';

export interface Hasher {
  /** xxh64 of the bytes under a seed. */
  hash64(bytes: Uint8Array, seed?: bigint): bigint;
  /** A hash that is fed in pieces: the pieces' borders do not change it. */
  stream64(): HashStream;
}

export interface HashStream {
  update(bytes: Uint8Array): void;
  digest(): bigint;
}

export async function loadHasher(): Promise<Hasher> {
  const api = await xxhash();
  return {
    hash64: (bytes, seed) => api.h64Raw(bytes, seed),
    stream64: () => {
      const stream = api.create64();
      return {
        update: (bytes) => {
          stream.update(bytes);
        },
        digest: () => stream.digest(),
      };
    },
  };
}

/** A digest as 16 hexadecimal digits. */
export function digestText(digest: bigint): string {
  return digest.toString(16).padStart(16, '0');
}
