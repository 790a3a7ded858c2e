/**
 * The scenario file, field by field. It is data: the command line, the builder and YAML all produce
 * this shape, and the JSON Schema that editors use is derived from it. Units stay as written here;
 * base/units.ts reads them, so that errors are the same everywhere.
 */
import * as z from 'zod';
import type { DriverName, FaultKind } from './types.js';

export const DRIVERS = ['threads', 'sim', 'nats'] as const satisfies readonly DriverName[];
/** Of the members, of the links, of the origin. */
export const FAULT_KINDS = [
  'stepDown',
  'flap',
  'overrun',
  'failPropose',
  'kill',
  'outOfMemory',
  'failWrites',
  'failSync',
  'tornTail',
  'wipe',
  'reload',
  'freeze',
  'slow',
  'slowDisk',
  'clockRate',
  'partition',
  'link',
  'metaStepDown',
  'dropConsumer',
  'refuseOpening',
  'loseDeliveries',
  'repeatDeliveries',
  'stallOrigin',
  'originDelete',
  'originPurge',
  'originExpire',
  'originRecreate',
] as const satisfies readonly FaultKind[];

/** Text is shown in errors and reports: what would break a line is refused. */
const IN_ONE_LINE = /^[^\p{Cc}\u2028\u2029]*$/u;
const line = z.string().regex(IN_ONE_LINE);
const text = line.min(1);
const duration = z
  .string('a duration with its unit, such as 250ms or 2s')
  .regex(IN_ONE_LINE)
  .describe('a duration with its unit: 250ms, 2s, 10m');
const count = z
  .union([z.number(), line], 'a whole number')
  .describe('a whole number: 100000 or 1e6');
const durations = z
  .string('a duration with its unit, such as 250ms, or a range of them')
  .regex(IN_ONE_LINE);
const chance = z.union([z.number(), line], 'a chance from 0 to 1');
const size = z
  .union([z.number(), line], 'a size in bytes, such as 128 or 64KiB')
  .describe('bytes of payload: 128 or 64KiB; default 128');
const rate = count.describe('messages a second; default: as fast as the window allows');

const synthetic = z
  .strictObject({
    messages: count.describe('how many messages, the sentinel at the end not counted'),
    size: size.optional(),
    rate: rate.optional(),
    gaps: z
      .array(
        z.strictObject({
          after: count.describe('the gap follows this message; 0: before the first'),
          count: count.describe('how many sequences are missing'),
        }),
      )
      .optional()
      .describe('rising, none at the place of another'),
  })
  .describe('messages made from the seed');

const natsGaps = z
  .strictObject({
    file: text.describe('output of: nats stream gaps NAME --json -f --no-progress'),
    info: text.describe('output of: nats stream info NAME --json'),
    size: size.optional(),
    rate: rate.optional(),
  })
  .describe('the shape of a real stream, with bodies made from the seed');

const module = z
  .strictObject({
    path: text.describe('a JavaScript module: its default export returns { name, messages }'),
    options: z.json().optional().describe('what it is called with'),
    rate: rate.optional(),
  })
  .describe('messages of your own (docs/testing.md)');

const nats = z
  .strictObject({
    url: z
      .string()
      .optional()
      .describe('nats://HOST:PORT; default: NATS_URL, the context, nats://127.0.0.1:4222'),
    stream: text.describe('name of the stream'),
    context: text.optional().describe('a natscli context; default: NATS_CONTEXT or the selected'),
    creds: text.optional().describe('a credentials file, file://PATH or env://NAME'),
    nkey: text.optional().describe('a file with an nkey seed, file://PATH or env://NAME'),
    tlsCert: text.optional().describe('a PEM file'),
    tlsKey: text.optional().describe('a PEM file'),
    tlsCa: text.optional().describe('a PEM file'),
    tlsFirst: z.boolean().optional().describe('TLS before the server says anything'),
    jsDomain: text.optional().describe('JetStream domain'),
    jsApiPrefix: text.optional().describe('instead of $JS.API'),
    inboxPrefix: text.optional().describe('instead of _INBOX'),
    timeout: duration.optional().describe('of one request; default 5s'),
  })
  .describe('a stream on a NATS server, read as it is; it is never written to');

const state = z
  .strictObject({
    skipped: count.optional().describe('at least so many skips accepted by the leader'),
    applied: count.optional().describe('at least so many messages applied by the target'),
    term: count.optional().describe('this term or a later one'),
    role: z.enum(['leader', 'candidate', 'follower']).optional(),
    appended: z
      .strictObject({
        on: count.describe('so many members, the leader among them'),
        of: count.describe('how many there are: the replicas'),
      })
      .optional()
      .describe('some batch of the leader is durable on exactly so many members'),
    phase: z
      .enum(['noop', 'snapshot'])
      .optional()
      .describe(
        'noop: elected, with messages applied before, and its own no-op is not applied yet; ' +
          'snapshot: one is under way',
      ),
  })
  .describe('exactly one state of the target');

const leading = text.describe('target: leader or a slot');
const member = text.describe(
  'target: leader, follower (the first by slot), follower:lagging, follower:ahead, any, or a slot',
);
const ofOrigin = z.union([z.literal(true), z.literal('origin')]);
const links = z.union(
  [text, z.array(z.array(text))],
  'isolate:…, minority:…, ring, bridge, spurs, sides such as r1+r2/r3, or all',
);

const fault = z
  .strictObject({
    id: text.optional().describe('a name for other faults to refer to'),
    stepDown: leading.optional(),
    flap: leading.optional().describe('target; deposed, and the same member is elected again'),
    overrun: leading
      .optional()
      .describe('target; too much of it is not applied: it steps down and names nobody'),
    failPropose: leading.optional(),
    kill: member.optional(),
    outOfMemory: member.optional().describe('target; ended by its own memory'),
    failWrites: member.optional().describe('target; its next write fails and ends it'),
    failSync: member
      .optional()
      .describe('target; its next sync fails and ends it: what was written may be there'),
    tornTail: member
      .optional()
      .describe('target; ended in the middle of its next write, of which a part is left'),
    wipe: member.optional().describe('target; ended, its disk lost'),
    freeze: member.optional(),
    slow: member.optional().describe('target; each turn of its host takes longer'),
    slowDisk: member.optional().describe('target; each of its writes takes longer'),
    clockRate: member.optional().describe('target; its clock runs faster or slower'),
    partition: links
      .optional()
      .describe(
        'links that carry nothing: isolate:TARGET; from:TARGET or to:TARGET (one way); ' +
          'minority:with-leader or minority:without-leader; ring, bridge, bridge:TARGET or ' +
          'spurs; sides, r1+r2/r3; or all',
      ),
    link: links.optional().describe('links in trouble, in the words of partition'),
    reload: member.optional().describe('target; on nats: it reads its configuration again'),
    metaStepDown: z
      .union([z.literal(true), z.literal('meta')])
      .optional()
      .describe('on nats: the leader of all of JetStream hands over'),
    dropConsumer: ofOrigin.optional().describe('the origin forgets the mirror'),
    refuseOpening: ofOrigin.optional().describe('requests to open are refused'),
    loseDeliveries: ofOrigin.optional().describe('deliveries that never come'),
    repeatDeliveries: ofOrigin.optional().describe('deliveries that come twice'),
    stallOrigin: ofOrigin.optional().describe('neither deliveries nor answers nor heartbeats'),
    originDelete: z
      .union([z.number(), text], 'sequences such as 200..300, or next:50')
      .optional()
      .describe('sequences: 200..300, 200, or next:50 not handed out yet'),
    originPurge: z
      .union([z.number(), line], 'a sequence, or next:N')
      .optional()
      .describe('everything below this sequence goes, or below what follows the next:N'),
    originExpire: count.optional().describe('so many of the oldest messages go'),
    originRecreate: count.optional().describe('another stream of that name, of so many messages'),
    to: text.optional().describe('stepDown: best (default), none, or a slot'),
    for: duration
      .optional()
      .describe(
        'freeze, slow, slowDisk, clockRate, partition, link, stallOrigin, or with rate; ' +
          'default 500ms',
      ),
    by: duration
      .optional()
      .describe('slow, slowDisk: by how much; default 5ms of a turn, 50ms of a write'),
    factor: z
      .union([z.number(), line], 'a factor')
      .optional()
      .describe('clockRate: so many times as fast, from 0.1 to 10'),
    restartAfter: duration
      .optional()
      .describe(
        'kill, outOfMemory, failWrites, failSync, tornTail: back from its journal so long after ' +
          'its end; default: it stays down',
      ),
    entries: count
      .optional()
      .describe('overrun: how many may be proposed and not applied; default 0'),
    times: count
      .optional()
      .describe('proposals, requests or deliveries that fail; default 1; or else: rate'),
    rate: chance
      .optional()
      .describe(
        'failPropose, refuseOpening, loseDeliveries, repeatDeliveries: by this chance, meanwhile',
      ),
    code: z.enum(['overrun', 'writeFailed']).optional().describe('failPropose: default overrun'),
    between: z
      .enum(['peers', 'origin', 'all'])
      .optional()
      .describe('partition, link: links to other members (default), to the origin, or both'),
    latency: durations.optional().describe('link: so much later, or from 1ms..20ms'),
    loss: chance.optional().describe('link: chance of a message to get lost'),
    duplicate: chance.optional().describe('link: chance to come twice'),
    reorder: chance.optional().describe('link: chance to be overtaken'),
    at: durations
      .optional()
      .describe(
        'time since the first delivery, 1s, or drawn from 1s..2s; with a rate, not after the ' +
          'last message. Without one the end is not known beforehand: what waits for a time ' +
          'keeps the run going until then',
      ),
    when: state.optional(),
    within: duration.optional().describe('when: how long to wait for the state; default 30s'),
    after: text.optional().describe('the id of another fault'),
    delay: duration
      .optional()
      .describe(
        'after: time since that other fault; default 0ms. Beyond the for of a freeze or ' +
          'partition it counts on from its end, however late',
      ),
    every: durations.optional().describe('strikes again so long after, 200ms or 100ms..300ms'),
    repeat: count.optional().describe('every: how often in all'),
    on: z.array(z.enum(DRIVERS)).min(1).optional().describe('exists on these only; default all'),
  })
  .describe('one kind of fault with its target, one trigger (at, when or after), and parameters');

/** A fault that is added to a run that goes on: one stroke, on the driver that runs it. */
export const addedFaultSchema = fault.omit({ every: true, repeat: true, on: true });

/** Every key of a fault. */
export const FAULT_KEYS: readonly string[] = Object.keys(fault.shape);

const stallAtMost = z
  .union([
    duration,
    z.strictObject({
      threads: duration.optional(),
      sim: duration.optional(),
      nats: duration.optional(),
    }),
  ])
  .describe('the longest time without progress; default 2s, on nats 60s');

const endState = z
  .strictObject({
    first: count.describe('the first sequence that has a message'),
    last: count.describe('the last one; of an origin made here, its sentinel'),
    messages: count.describe('how many, the sentinel counted'),
    deleted: count.describe('sequences between first and last that have none'),
  })
  .describe(
    'what every living replica holds at the end, exactly. The sentinel counts: it follows the ' +
      'last sequence of the origin, so five messages and a gap of ten behind them end at 16',
  );

export const scenarioSchema = z.strictObject({
  version: z.literal(1),
  name: text.describe('what it is about, in one line'),
  seed: count.optional().describe('of timeouts and of made content; default 1'),
  replicas: count.optional().describe('1, 3, 5 or 7; default 3'),
  election: z.enum(['conductor', 'timers', 'both']).optional().describe('default both'),
  timeScale: z
    .union([z.number(), z.literal('upstream')])
    .optional()
    .describe("multiplies the mirror's constants; upstream is 1; default 0.05"),
  origin: z
    .strictObject(
      {
        synthetic: synthetic.optional(),
        natsGaps: natsGaps.optional(),
        nats: nats.optional(),
        module: module.optional(),
      },
      'a mapping with one of synthetic, natsGaps, nats or module',
    )
    .describe('exactly one'),
  mirror: z
    .strictObject({
      skip: z
        .enum(['entries', 'range'])
        .optional()
        .describe('one command a sequence, or one for a whole gap; default entries'),
    })
    .optional(),
  faults: z.array(fault).optional(),
  beyondQuorum: z
    .boolean()
    .optional()
    .describe('may break more than the cluster tolerates; then no progress is owed'),
  timeLimit: duration.optional().describe('ends the run as inconclusive; default 10m'),
  expect: z
    .strictObject({
      stallAtMost: stallAtMost.optional(),
      covered: z.array(z.enum(FAULT_KINDS)).optional().describe('kinds that must strike'),
      mirror: z
        .enum(['running', 'blocked', 'diverged'])
        .optional()
        .describe('the state that the mirror ends in; default running'),
      state: endState.optional(),
    })
    .optional(),
});

export type Scenario = z.infer<typeof scenarioSchema>;
export type FaultText = NonNullable<Scenario['faults']>[number];
export type AddedFaultText = z.infer<typeof addedFaultSchema>;

/** JSON Schema (draft 2020-12) of scenario files, for editors. */
export function scenarioJsonSchema(): unknown {
  return z.toJSONSchema(scenarioSchema);
}
