/**
 * Every fault on every real stream, under both encodings: held, and the fault really happened.
 * LOCKSTEP_RUNS repeats each of them; `npm run faults` asks for 20. Without it each fault falls on
 * each stream once, under one encoding here and under the other on the next stream.
 */
import { describe, expect, it } from 'vitest';
import { playUntilFallen } from './stage.js';

const EVERY = process.env['LOCKSTEP_RUNS'] !== undefined;
const RUNS = Number(process.env['LOCKSTEP_RUNS'] ?? '1');
/** A rate makes small streams last long enough for a fault to fall into them. */
const STREAMS = { ORDERS: 8_000, TELEMETRY: 1_200, WIDE: 40, KV_SESSIONS: 20_000 };
const FAULTS = {
  'stepDown to the best': { stepDown: 'leader' },
  'stepDown to a named one': { stepDown: 'leader', to: 'r2' },
  'stepDown to nobody': { stepDown: 'leader', to: 'none' },
  kill: { kill: 'leader' },
  freeze: { freeze: 'leader', for: '60ms' },
  failPropose: { failPropose: 'leader', times: 2 },
  dropConsumer: { dropConsumer: 'origin' },
};

describe.each(Object.entries(STREAMS))('faults on %s', (stream, rate) => {
  const position = Object.keys(STREAMS).indexOf(stream);
  const file = `test/fixtures/nats/${stream}`;
  const origin = { natsGaps: { file: `${file}.gaps.json`, info: `${file}.info.json`, rate } };

  describe.each(['entries', 'range'])('skip by %s', (skip) => {
    const turn = position + (skip === 'range' ? 1 : 0);
    const faults = Object.entries(FAULTS).filter((_, nth) => EVERY || (nth + turn) % 2 === 0);
    it.each(faults)('%s', { timeout: 60_000 + RUNS * 3_000 }, async (_, fault) => {
      for (let seed = 1; seed <= RUNS; seed++) {
        const kind = Object.keys(fault)[0]!;
        const { summary, reasons } = await playUntilFallen({
          seed,
          origin,
          mirror: { skip },
          faults: [{ ...fault, when: { applied: 1 } }],
          expect: { covered: [kind] },
        });
        expect({ seed, reasons }).toEqual({ seed, reasons: [] });
        expect(summary.verdict).toBe('held');
        expect(summary.faults.map(({ status }) => status)).toEqual(['installed']);
      }
    });
  });
});
