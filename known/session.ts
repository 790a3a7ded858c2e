/** A client of one cluster that makes streams and fills them, by JetStream's requests alone. */
import { connect, headers, type MsgHdrs, type NatsConnection } from 'nats';
import { setTimeout } from 'node:timers/promises';
import type { NatsCluster } from '../src/nats/cluster.js';

export interface Published {
  readonly subject: string;
  readonly payload?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

type Json = Readonly<Record<string, unknown>>;

const ANSWER_WITHIN_MS = 10_000;
const TRY_FOR_MS = 60_000;
const TRY_AGAIN_MS = 200;
const WINDOW = 1_000;
const NOBODY = /503|no responders/i;
/** Nobody answers, or a leader is being elected. */
const PASSING = /timeout|503|no responders|temporarily unavailable|no suitable peers/i;

export class Session implements AsyncDisposable {
  readonly #connection: NatsConnection;

  private constructor(connection: NatsConnection) {
    this.#connection = connection;
  }

  static async connect({ urls }: NatsCluster): Promise<Session> {
    const options = { maxReconnectAttempts: -1, reconnectTimeWait: 100 };
    return new Session(await connect({ servers: urls, ...options }));
  }

  /** A request that may come while a leader is missing; asked again until one answers. */
  async ask(subject: string, body: Json = {}): Promise<Json> {
    return patiently(PASSING, () => this.#askOnce(subject, body));
  }

  /** A file stream of one replica that takes `name.>`, unless the configuration says otherwise. */
  async create(name: string, config: Json = {}): Promise<void> {
    const subjects = [`${name}.>`];
    await this.ask(`STREAM.CREATE.${name}`, {
      ...{ name, subjects, storage: 'file', num_replicas: 1, ...config },
    });
  }

  async mirror(name: string, origin: string, config: Json = {}, of: Json = {}): Promise<void> {
    await this.create(name, { subjects: undefined, mirror: { name: origin, ...of }, ...config });
  }

  /** In order, each acknowledged; a window of them is under way at a time. */
  async publish(messages: Iterable<Published>): Promise<void> {
    let under: Promise<unknown>[] = [];
    for (const message of messages) {
      under.push(this.#publishOne(message));
      if (under.length < WINDOW) continue;
      await Promise.all(under);
      under = [];
    }
    await Promise.all(under);
  }

  /** Again, if the stream took it for one that it has: until its id is forgotten. */
  async publishAnew(message: Published): Promise<void> {
    const lastTry = performance.now() + TRY_FOR_MS;
    while ((await this.#publishOne(message))['duplicate'] === true) {
      if (performance.now() > lastTry) throw new Error(`${message.subject}: remembers its id`);
      await setTimeout(TRY_AGAIN_MS);
    }
  }

  /** `count` messages whose payloads differ, all on one subject. */
  async fill(subject: string, count: number): Promise<void> {
    await this.publish(numbered(subject, count));
  }

  async purge(stream: string, body: Json): Promise<void> {
    await this.ask(`STREAM.PURGE.${stream}`, body);
  }

  async delete(stream: string, ...seqs: readonly number[]): Promise<void> {
    for (const seq of seqs) await this.ask(`STREAM.MSG.DELETE.${stream}`, { seq });
  }

  /** Changes these fields of its configuration. */
  async update(stream: string, change: Json): Promise<void> {
    const { config } = await this.ask(`STREAM.INFO.${stream}`);
    await this.ask(`STREAM.UPDATE.${stream}`, { ...(config as Json), ...change });
  }

  async leaderOf(stream: string): Promise<string> {
    const { cluster } = await this.ask(`STREAM.INFO.${stream}`);
    return String((cluster as Json | undefined)?.['leader']);
  }

  /** What a mirror says of itself. */
  async mirrorOf(stream: string): Promise<{ readonly lag: number; readonly error: string | null }> {
    const { mirror } = await this.ask(`STREAM.INFO.${stream}`);
    const { lag, error } = mirror as { lag: number; error?: { description: string } };
    return { lag, error: error?.description ?? null };
  }

  async stepDown(stream: string): Promise<void> {
    await this.ask(`STREAM.LEADER.STEPDOWN.${stream}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close();
  }

  async #askOnce(subject: string, body: Json): Promise<Json> {
    const options = { timeout: ANSWER_WITHIN_MS };
    const request = JSON.stringify(body);
    const answer = await this.#connection.request(`$JS.API.${subject}`, request, options);
    return checked(subject, answer.json<Json>());
  }

  /** Again only if nobody got it: a message that is stored twice is another stream. */
  async #publishOne({ subject, payload = '', headers: given }: Published): Promise<Json> {
    const options = { timeout: TRY_FOR_MS, ...(given === undefined ? {} : { headers: of(given) }) };
    return patiently(NOBODY, async () => {
      const answer = await this.#connection.request(subject, payload, options);
      return checked(subject, answer.json<Json>());
    });
  }
}

async function patiently<T>(passing: RegExp, once: () => Promise<T>): Promise<T> {
  const lastTry = performance.now() + TRY_FOR_MS;
  for (;;) {
    try {
      return await once();
    } catch (error) {
      const isPassing = error instanceof Error && passing.test(error.message);
      if (!isPassing || performance.now() > lastTry) throw error;
      await setTimeout(TRY_AGAIN_MS);
    }
  }
}

export function* numbered(subject: string, count: number): Generator<Published> {
  for (let number = 1; number <= count; number++) yield { subject, payload: `payload ${number}` };
}

function of(given: Readonly<Record<string, string>>): MsgHdrs {
  const made = headers();
  for (const [name, value] of Object.entries(given)) made.set(name, value);
  return made;
}

function checked(subject: string, answer: Json): Json {
  const error = answer['error'] as { readonly description: string } | undefined;
  if (error === undefined) return answer;
  throw new Error(`${subject}: ${error.description}`);
}
