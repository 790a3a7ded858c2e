/** What a verification would ask for, and what it takes to be allowed to. */
import { openSides, type SidesGiven } from './sides.js';
import type { Depth } from './result.js';
import { SAMPLE_LENGTH, SAMPLE_RANGES, SPOT_READS } from './sampling.js';

/** Of `--sys-context`, in the system account. */
const PING = '$SYS.REQ.SERVER.PING.JSZ';

/** Lines. It asks for both descriptions and nothing else. Errors: usage. */
export async function dryRun(
  given: SidesGiven & { readonly depth: Depth; readonly bytesPerSecond: number | null },
): Promise<string[]> {
  const { sides, facts } = await openSides(given);
  await using _ = sides;
  const { origin, mirror } = facts;
  const [from, to] = [sides.origin.access, sides.mirror.access].map(
    ({ settings }) => settings.apiPrefix,
  );
  const always = [
    `4 x ${to}.STREAM.INFO.${mirror.name}`,
    `4 x ${from}.STREAM.INFO.${origin.name}`,
    `1 x ${from}.CONSUMER.CREATE.${origin.name} and its deletion, to see what is pending`,
  ];
  if (given.depth === 'full') {
    const bytes = origin.state.bytes + mirror.state.bytes;
    const rate = given.bytesPerSecond;
    const time = rate === null ? '' : `, ${Math.ceil(bytes / 2 / rate)} s at that rate`;
    return [
      ...always,
      `1 x ${from}.CONSUMER.CREATE.${origin.name} and its deletion, to read it`,
      `1 x ${to}.CONSUMER.CREATE.${mirror.name} and its deletion, to read it`,
      `about ${bytes} bytes to be read of both together${time}`,
    ];
  }
  const drawn = given.depth === 'state' ? SPOT_READS : SAMPLE_RANGES * SAMPLE_LENGTH;
  const most = Math.min(drawn, Math.max(origin.state.last_seq, mirror.state.last_seq));
  return [
    ...always,
    `${most} x ${from}.STREAM.MSG.GET.${origin.name}`,
    `${most} x ${to}.STREAM.MSG.GET.${mirror.name}`,
  ];
}

/**
 * Lines: the least that a user of the stream needs, and of its origin.
 *
 * @param withOrigin  false: only the stream's replicas are compared
 * @param withSystem  true: a user of the system account asks every server
 */
export function permissions(
  stream: string,
  origin: string | null,
  withOrigin: boolean,
  withSystem: boolean,
  prefixes: { readonly mirror: string; readonly origin: string; readonly inbox: string },
): string[] {
  const of = (prefix: string, name: string): string[] => [
    `${prefix}.STREAM.INFO.${name}`,
    `${prefix}.STREAM.MSG.GET.${name}`,
    `${prefix}.CONSUMER.CREATE.${name}.>`,
    `${prefix}.CONSUMER.DELETE.${name}.*`,
  ];
  // Asked without a connection: what it is a mirror of is not known unless it is told.
  const ofOrigin = withOrigin ? of(prefixes.origin, origin ?? 'ORIGIN') : [];
  const ofSystem = withSystem ? [PING] : [];
  return [...of(prefixes.mirror, stream), ...ofOrigin, '$JS.FC.>', ...ofSystem]
    .map((subject) => `publish   ${subject}`)
    .concat(`subscribe ${prefixes.inbox}.>`);
}
