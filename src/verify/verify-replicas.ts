/**
 * `--replicas`: each replica of a stream is read and compared with the others, and a mirror is read
 * from end to end beside its origin too. What all replicas hold alike is then what was compared
 * with the origin; where they disagree, the origin is asked who is right.
 */
import { LockstepError, toErrorData } from '../base/errors.js';
import { JetStreamAccess } from '../nats/access.js';
import { patiently } from '../nats/patience.js';
import { dryRun } from './plan.js';
import { differingParts } from './record-compare.js';
import { ServerReplicas } from './replica-access.js';
import type { ReplicasReport } from './replica-report.js';
import { compareReplicas, type OriginMessages } from './replicas.js';
import type { VerifyReport, VerifyResultKind } from './result.js';
import { Selection } from './selection.js';
import { described, openSides, type Facts, type Side } from './sides.js';
import { verifyMirror, type VerifyRequest, type VerifyTools } from './verify.js';

export interface ReplicasOutcome {
  /** The worse of both. */
  readonly result: VerifyResultKind;
  /** Null: it is no mirror. */
  readonly mirror: VerifyReport | null;
  /** Null: a mirror of one replica, which was compared with its origin. */
  readonly replicas: ReplicasReport | null;
}

/** From best to worst. */
const RESULTS: readonly VerifyResultKind[] = [
  ...(['identical', 'no difference seen', 'explained'] as const),
  ...(['behind', 'inconclusive', 'different'] as const),
];

/** Errors: usage, in one line; timeout, where nobody answers. */
export async function verifyReplicas(
  request: VerifyRequest,
  tools: VerifyTools,
): Promise<ReplicasOutcome> {
  await using access = await JetStreamAccess.open(request.settings);
  const { mirror, servers, config } = await described(access.api, request.stream);
  if (mirror === null && request.origin === null) {
    const replicas = await compared(access, request, tools, null);
    return { result: replicas.result, mirror: null, replicas };
  }
  const { sides, facts } = await openSides(request);
  await using _ = sides;
  const origin = originMessages(sides.origin, facts);
  const isAlone = servers.length < 2 && config['num_replicas'] === 1;
  const replicas = isAlone ? null : await compared(access, request, tools, origin);
  // Where too few replicas were read, the one that is read now is still compared.
  const { from: first = 1, to: last = 0 } = replicas?.coverage ?? {};
  const to = last < first ? request.to : last;
  const { report } = await verifyMirror({ ...request, depth: 'full', to, resume: null }, tools);
  const results = [report.result, replicas?.result ?? report.result];
  const worst = Math.max(...results.map((result) => RESULTS.indexOf(result)));
  return { result: RESULTS[worst]!, mirror: report, replicas };
}

async function compared(
  access: JetStreamAccess,
  request: VerifyRequest,
  { signal, progress }: VerifyTools,
  origin: OriginMessages | null,
): Promise<ReplicasReport> {
  const { stream, bytesPerSecond, from, to } = request;
  try {
    return await compareReplicas(new ServerReplicas({ access, stream, bytesPerSecond }), {
      ...{ from, to, progress },
      ...(origin === null ? {} : { origin }),
      pause: () => signal.aborted,
    });
  } catch (error) {
    const { code, message } = toErrorData(error);
    throw code === 'originRefused' ? new LockstepError('usage', message) : error;
  }
}

function originMessages({ access, stream }: Side, { mirror }: Facts): OriginMessages {
  const selection = new Selection(mirror.mirror);
  const textOf = (subject: Uint8Array): string => Buffer.from(subject).toString();
  return {
    at: async (seq) => {
      const message = await patiently(() => access.api.messageAt(stream, seq));
      return message !== null && selection.selects(textOf(message.subject)) ? message : null;
    },
    isAlike: (ofOrigin, ofMirror) => {
      const subject = selection.rewrittenBytes(ofOrigin.subject);
      return differingParts(ofOrigin, ofMirror, subject).length === 0;
    },
  };
}

/** Lines: what would be asked for. It asks for descriptions and nothing else. Errors: usage. */
export async function dryRunReplicas(request: VerifyRequest): Promise<string[]> {
  await using access = await JetStreamAccess.open(request.settings);
  const { name, mirror, servers, state } = await described(access.api, request.stream);
  const { apiPrefix } = access.settings;
  const readers = servers.map((server) => {
    return `${apiPrefix}.CONSUMER.CREATE and DELETE.${name}, until one is placed on ${server}`;
  });
  const bytes = state.bytes * servers.length;
  const rate = request.bytesPerSecond;
  const time = rate === null ? '' : `, ${Math.ceil(state.bytes / rate)} s at that rate`;
  const isMirror = mirror !== null || request.origin !== null;
  return [
    `3 x ${apiPrefix}.STREAM.INFO.${name}, and 1 each time that a difference is read again`,
    ...readers,
    `about ${bytes} bytes to be read of ${servers.length} replicas${time}`,
    ...(isMirror ? await dryRun({ ...request, depth: 'full' }) : []),
  ];
}
