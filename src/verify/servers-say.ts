/**
 * What each server says of its own copies of both streams, and how far the origin was delivered to
 * mirrors: told as notes, nothing is concluded from it. Upstream: monitor.go, JSzOptions.
 */
import { LockstepError } from '../base/errors.js';
import { plain } from '../base/plain.js';
import { nanosecondsOf } from '../nats/api.js';
import type { Settings } from '../nats/settings.js';
import { askEveryServer, type ServerAnswer } from '../nats/system-account.js';
import { isAtLeast, TELLS_MIRRORS } from '../nats/version.js';
import { counted, grouped, groupedRange, listed } from '../report/text.js';
import type { Facts } from './sides.js';
import { objectOf, textOf, type Json, type StreamFacts } from './stream-facts.js';

const ASKED = { accounts: true, streams: true, consumer: true, direct_consumer: true };
const OF_MIRRORS = 'JS_MIRROR_';

/** A server's own copy of a stream. */
interface Copy {
  readonly server: string;
  readonly detail: Json;
}

/** Lines. Errors: usage, when no server answers. */
export async function serversSay(settings: Settings, facts: Facts): Promise<string[]> {
  const answers = await askEveryServer(settings, 'JSZ', ASKED);
  if (answers.length === 0) {
    const text =
      '--sys-context: no server answers $SYS.REQ.SERVER.PING.JSZ: its user has to be one of the ' +
      'system account';
    throw new LockstepError('usage', text);
  }
  return saidIn(answers, facts);
}

/** Lines. @param answers  of at least one server */
export function saidIn(answers: readonly ServerAnswer[], facts: Facts): string[] {
  const [origin, mirror] = [facts.origin, facts.mirror].map((each) => copiesOf(answers, each));
  return [
    copiesText(facts.origin.name, origin!),
    copiesText(facts.mirror.name, mirror!),
    ...deliveredTexts(facts.origin, origin!, answers),
  ];
}

/** Of this stream and no other of its name: accounts have names of their own. */
function copiesOf(answers: readonly ServerAnswer[], { name, created }: StreamFacts): Copy[] {
  return answers.flatMap(({ server, answer }) => {
    const accounts = listOf(answer['account_details']);
    const streams = accounts.flatMap((account) => listOf(account['stream_detail']));
    const found = streams.find((stream) => {
      return stream['name'] === name && nanosecondsOf(textOf(stream['created'])) === created;
    });
    return found === undefined ? [] : [{ server, detail: found }];
  });
}

/** `M by its servers: 1 to 20, 20 messages on n1 and n2; 1 to 20, 19 messages on n3: …` */
function copiesText(name: string, copies: readonly Copy[]): string {
  if (copies.length === 0) return `${plain(name)}: no server that answers holds it`;
  const byState = new Map<string, string[]>();
  for (const { server, detail } of copies) {
    const state = stateText(objectOf(detail['state']));
    byState.set(state, [...(byState.get(state) ?? []), server]);
  }
  const texts = [...byState].map(([state, servers]) => `${state} on ${plain(listed(servers))}`);
  const differ = texts.length > 1 ? ': they differed at that moment, --replicas tells' : '';
  return `${plain(name)} by its servers: ${texts.join('; ')}${differ}`;
}

function stateText(state: Json): string {
  const range = { first: numberOf(state['first_seq']), last: numberOf(state['last_seq']) };
  return `${groupedRange(range)}, ${counted(numberOf(state['messages']), 'message')}`;
}

/** The leader alone holds the consumers of mirrors: without its answer nothing is known of them. */
function deliveredTexts(
  { name, leader }: StreamFacts,
  copies: readonly Copy[],
  answers: readonly ServerAnswer[],
): string[] {
  const details = copies.flatMap(({ detail }) => listOf(detail['direct_consumer_detail']));
  const upTo = details
    .filter((consumer) => textOf(consumer['name']).startsWith(OF_MIRRORS))
    .map((consumer) => numberOf(objectOf(consumer['delivered'])['stream_seq']));
  if (upTo.length > 0) {
    const where = listed(upTo.sort((one, other) => one - other).map(grouped));
    return [`${plain(name)} was delivered to ${counted(upTo.length, 'mirror')} up to ${where}`];
  }
  const tells = answers.every(({ version }) => isAtLeast(version, TELLS_MIRRORS));
  const hasLeader = copies.some(({ server }) => leader === null || server === leader);
  if (!tells || !hasLeader) return [];
  return [`${plain(name)} is delivered to no mirror at this moment`];
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function numberOf(value: unknown): number {
  return typeof value === 'number' && value >= 0 ? value : 0;
}
