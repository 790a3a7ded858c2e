/**
 * The scenario file, field by field. It is data: the command line, the builder and YAML all produce
 * this shape, and the JSON Schema that editors use is derived from it.
 */
import * as z from 'zod';

const text = z.string().min(1);
/** Kept as written; units are read by base/units.ts, so that errors are the same everywhere. */
const duration = z.string().describe('a duration with its unit: 250ms, 2s, 10m');
const count = z.union([z.number(), z.string()]).describe('a whole number: 100000 or 1e6');
const drivers = z.array(z.enum(['threads', 'sim', 'nats']));

const synthetic = z.strictObject({
  messages: count.describe('how many messages, the sentinel at the end not counted'),
  size: z.union([z.number(), z.string()]).optional().describe('bytes of payload; default 128'),
  rate: count.optional().describe('messages a second; default: as fast as the window allows'),
  gaps: z
    .array(z.strictObject({ after: count, count }))
    .optional()
    .describe('after that many messages, so many sequences are missing'),
});

const natsGaps = z.strictObject({
  file: text.describe('output of: nats stream gaps NAME --json -f --no-progress'),
  info: text.describe('output of: nats stream info NAME --json'),
  size: z.union([z.number(), z.string()]).optional(),
  rate: count.optional(),
});

const state = z
  .strictObject({
    skipped: count.optional().describe('skips accepted by the leader'),
    applied: count.optional().describe('messages applied by the target'),
    term: count.optional(),
    role: z.enum(['leader', 'candidate', 'follower']).optional(),
  })
  .describe('one state of the target');

/** One fault: exactly one of the kinds, one trigger (at, when or after), and what belongs to it. */
const fault = z.strictObject({
  id: text.optional().describe('a name for other faults to refer to'),
  stepDown: text.optional().describe('target: leader or a slot'),
  kill: text.optional().describe('target: leader, follower or a slot'),
  freeze: text.optional().describe('target: leader, follower or a slot'),
  failPropose: text.optional().describe('target: leader or a slot'),
  dropConsumer: z
    .union([z.literal(true), z.literal('origin')])
    .optional()
    .describe('the origin forgets the mirror and tells nobody'),
  to: text.optional().describe('stepDown: best (default), none, or a slot'),
  for: duration.optional().describe('freeze: how long; default 500ms'),
  times: count.optional().describe('failPropose: how many proposals; default 1'),
  code: z.enum(['overrun', 'writeFailed']).optional().describe('failPropose: default overrun'),
  at: duration.optional().describe('time since the first delivery'),
  when: state.optional(),
  within: duration.optional().describe('how long to wait for the state; default 30s'),
  after: text.optional().describe('the id of another fault'),
  delay: duration.optional().describe('time since that other fault; default 0ms'),
  on: drivers.optional().describe('drivers that this fault exists on; default all'),
});

export const scenarioSchema = z.strictObject({
  version: z.literal(1),
  name: text,
  seed: count.optional(),
  replicas: count.optional().describe('1, 3, 5 or 7; default 3'),
  election: z.enum(['conductor', 'timers', 'both']).optional(),
  timeScale: z.union([z.number(), z.literal('upstream')]).optional(),
  origin: z.strictObject({ synthetic: synthetic.optional(), natsGaps: natsGaps.optional() }),
  mirror: z.strictObject({ skip: z.enum(['entries', 'range']).optional() }).optional(),
  faults: z.array(fault).optional(),
  beyondQuorum: z.boolean().optional(),
  timeLimit: duration.optional().describe('default 10m'),
  expect: z
    .strictObject({
      stallAtMost: z
        .union([
          duration,
          z.strictObject({
            threads: duration.optional(),
            sim: duration.optional(),
            nats: duration.optional(),
          }),
        ])
        .optional(),
      covered: z
        .array(z.enum(['stepDown', 'kill', 'freeze', 'failPropose', 'dropConsumer']))
        .optional(),
      mirror: z.enum(['running', 'blocked', 'diverged']).optional(),
    })
    .optional(),
});

export type Scenario = z.infer<typeof scenarioSchema>;
export type FaultText = NonNullable<Scenario['faults']>[number];

export function scenarioJsonSchema(): unknown {
  return z.toJSONSchema(scenarioSchema);
}
