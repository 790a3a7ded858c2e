/** What each server itself holds of a stream, from its own monitor. */
import type { NatsCluster } from '../src/nats/cluster.js';
import type { StateText } from './types.js';

interface Streams {
  readonly account_details?: readonly {
    readonly stream_detail?: readonly { readonly name: string; readonly state: Counts }[];
  }[];
}

interface Counts {
  readonly first_seq: number;
  readonly last_seq: number;
  readonly messages: number;
}

/** By server name; servers that hold nothing of it, or do not answer, are left out. */
export async function statesOf(
  { servers }: NatsCluster,
  stream: string,
): Promise<Map<string, StateText>> {
  const states = new Map<string, StateText>();
  for (const server of servers.filter(({ isUp }) => isUp)) {
    const page = 'jsz?accounts=true&streams=true';
    const said = await server.monitor<Streams>(page).catch((): Streams => ({}));
    const state = (said.account_details ?? [])
      .flatMap((account) => account.stream_detail ?? [])
      .find(({ name }) => name === stream)?.state;
    if (state !== undefined) states.set(server.name, textOf(state));
  }
  return states;
}

function textOf({ first_seq: first, last_seq: last, messages }: Counts): StateText {
  return `{${first},${last},${messages},${Math.max(0, last - first + 1 - messages)}}`;
}
