/** `Nats-TTL`: seconds, or a duration as Go writes it. Upstream: stream.go, parseMessageTTL. */

const UNIT_MS: Readonly<Record<string, number>> = {
  ...{ ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 },
};

/** Milliseconds; null: `never`, none, or nothing that can be read. */
export function ttlMs(text: string | null): number | null {
  if (text === null || text === '') return null;
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  if (!/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(text)) return null;
  let ms = 0;
  for (const [, value, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)) {
    ms += Number(value) * UNIT_MS[unit!]!;
  }
  return ms;
}
