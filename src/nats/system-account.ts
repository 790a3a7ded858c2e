/**
 * What every server says of itself, asked through the system account: no monitoring port has to be
 * reached. Upstream: events.go, serverPingReqSubj.
 */
import { JSONCodec, RequestStrategy } from 'nats';
import { openConnection } from './connection.js';
import type { Settings } from './settings.js';

export interface ServerAnswer {
  readonly server: string;
  readonly version: string;
  readonly answer: Readonly<Record<string, unknown>>;
}

/** After the last answer; nobody knows how many servers there are. */
const QUIET_MS = 500;

/**
 * Empty: nobody answers, as to whoever is not in the system account. Errors: usage.
 *
 * @param page  of the monitor: `JSZ`
 */
export async function askEveryServer(
  settings: Settings,
  page: string,
  options: Readonly<Record<string, unknown>>,
): Promise<ServerAnswer[]> {
  interface Reply {
    readonly server?: { readonly name?: string; readonly ver?: string };
    readonly data?: ServerAnswer['answer'];
  }
  const connection = await openConnection(settings);
  const answers: ServerAnswer[] = [];
  try {
    const subject = `$SYS.REQ.SERVER.PING.${page}`;
    const replies = await connection.requestMany(subject, JSONCodec().encode(options), {
      ...{ strategy: RequestStrategy.JitterTimer, jitter: QUIET_MS },
      maxWait: settings.timeoutMs,
    });
    for await (const reply of replies) {
      const { server = {}, data } = JSONCodec<Reply>().decode(reply.data);
      if (data === undefined) continue;
      answers.push({ server: server.name ?? '', version: server.ver ?? '', answer: data });
    }
  } catch {
    // Nobody listens there, or is not allowed to: the same as no answer.
  } finally {
    await connection.close();
  }
  return answers.sort((one, other) => (one.server < other.server ? -1 : 1));
}
