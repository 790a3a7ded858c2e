#!/usr/bin/env node
/**
 * `lockstep verify` while the mirror's leader steps down every few seconds: fills a stream on three
 * servers of its own, mirrors it on all three, and compares, from end to end, twice: with the
 * origin, then replica by replica.
 *
 *     node scripts/verify-through-step-downs.js [--messages 1000000] [--every 3]
 *
 * `--every` is in seconds. Prints the commands, what they say, and how often the leader changed;
 * exit 0 only if both say `identical`. What servers lose or leave unanswered is sent and asked
 * again; one that makes no headway for two minutes ends it, with what was last seen. Runs on the
 * build, with the server of LOCKSTEP_NATS_SERVER or the PATH.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { connect } from 'nats';
import { NatsCluster } from '../dist/src/nats/cluster.js';
import { findServer } from '../dist/src/nats/server.js';

const COMMAND = fileURLToPath(new URL('../dist/src/cli/main.js', import.meta.url));
const PAYLOAD_BYTES = 128;
/** Messages that are sent before the last of them is waited for. */
const AT_ONCE = 2_000;
const ANSWER_WITHIN_MS = 20_000;
/** A stored message is acknowledged at once; what a change of leader took is not. */
const STORED_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 20;
/** The longest that servers may take to elect and to find a lost consumer, several times over. */
const HEADWAY_WITHIN_MS = 120_000;
const VERIFIED_WITHIN_MS = 600_000;
const USAGE = 64;

const { messages, everyMs } = options();
const binary = findServer(process.env);
if (binary === null)
  refuse('no nats-server: LOCKSTEP_NATS_SERVER names none, nor has the PATH one');
const cluster = await NatsCluster.start({ servers: 3, binary });
const client = await connect({ servers: cluster.urls });
try {
  await fill();
  const results = [];
  for (const words of [['--depth', 'full'], ['--replicas']]) {
    results.push(await whileSteppingDown(() => verify(words)));
  }
  process.exitCode = results.every(Boolean) ? 0 : 1;
} catch (error) {
  console.error(`verify-through-step-downs: ${error.message}`);
  process.exitCode = 1;
} finally {
  await client.close();
  await cluster[Symbol.asyncDispose]();
}

/** An origin of so many messages, or a few more, and a mirror that has all of them. */
async function fill() {
  const began = performance.now();
  const placed = { storage: 'file', num_replicas: 3 };
  await made({ name: 'ORDERS', subjects: ['orders.>'], ...placed });
  await made({ name: 'MR', mirror: { name: 'ORDERS' }, ...placed });
  const stored = await heads('ORDERS', messages, put);
  await heads('MR', stored, () => undefined);
  const seconds = Math.round((performance.now() - began) / 1_000);
  console.log(`${stored} messages of ${PAYLOAD_BYTES} bytes, mirrored, in ${seconds} s`);
}

/** Asked again, it is the same stream. */
async function made(config) {
  const give = performance.now() + HEADWAY_WITHIN_MS;
  for (;;) {
    try {
      return await ask(`STREAM.CREATE.${config.name}`, config);
    } catch (error) {
      if (performance.now() > give) throw error;
      await sleep(LOOK_EVERY_MS);
    }
  }
}

/**
 * Takes steps until a stream's last sequence is there, and returns it.
 *
 * @param step  brings it nearer: returns the last sequence, or nothing if it has to be asked for
 */
async function heads(stream, target, step) {
  let last = 0;
  let where = '';
  let roseMs = performance.now();
  while (last < target) {
    let now = await step(last);
    if (now === undefined) {
      await sleep(LOOK_EVERY_MS);
      ({ now, where } = await standing(stream));
    }
    if (now > last) roseMs = performance.now();
    else if (performance.now() - roseMs > HEADWAY_WITHIN_MS) {
      const seconds = HEADWAY_WITHIN_MS / 1_000;
      throw new Error(`${stream} stands at ${last} of ${target} for ${seconds} s; ${where}`);
    }
    last = Math.max(last, now);
  }
  return last;
}

/** Where a stream is, and who says so. */
async function standing(stream) {
  try {
    const { state, cluster: placed } = await ask(`STREAM.INFO.${stream}`);
    return { now: state.last_seq, where: `its leader is ${placed?.leader ?? 'nobody'}` };
  } catch (error) {
    return { now: 0, where: `last heard of it: ${error.message}` };
  }
}

/**
 * Sends the messages behind the last one that is stored. The last one sent is acknowledged with
 * its sequence: what was lost before it is missing there, and follows with the next ones.
 */
async function put(last) {
  const end = Math.min(last + AT_ONCE, messages);
  const payload = new Uint8Array(PAYLOAD_BYTES);
  const view = new DataView(payload.buffer);
  for (let seq = last + 1; seq < end; seq++) {
    view.setUint32(0, seq);
    client.publish(`orders.${seq % 100}`, payload);
  }
  view.setUint32(0, end);
  try {
    const timeout = STORED_WITHIN_MS;
    const answer = await client.request(`orders.${end % 100}`, payload, { timeout });
    return answer.json().seq;
  } catch {
    return undefined;
  }
}

/** Steps the leader of the mirror down again and again until the task is done. */
async function whileSteppingDown(task) {
  const done = new AbortController();
  const leaders = [];
  const stepping = (async () => {
    while (await sleep(everyMs, true, { signal: done.signal }).catch(() => false)) {
      const { cluster: placed } = await ask('STREAM.INFO.MR').catch(() => ({}));
      const isDone = await ask('STREAM.LEADER.STEPDOWN.MR').catch(() => null);
      if (isDone !== null) leaders.push(placed?.leader ?? 'nobody');
    }
  })();
  const result = await task();
  done.abort();
  await stepping;
  console.log(`stepped down while it ran: ${leaders.length} (${leaders.join(' ')})\n`);
  return result;
}

/** Whether it says `identical` and nothing else. */
async function verify(words) {
  const all = ['verify', 'MR', ...words];
  console.log(`$ lockstep ${all.join(' ')}`);
  const began = performance.now();
  const child = spawn(process.execPath, [COMMAND, ...all, '--server', cluster.urls[0]], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: VERIFIED_WITHIN_MS,
  });
  const exited = new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal));
  });
  let mostBytes = 0;
  const looking = setInterval(() => (mostBytes = mostMemoryOf(child.pid) ?? mostBytes), 250);
  let said = '';
  for await (const chunk of child.stdout) said += chunk;
  clearInterval(looking);
  const code = await exited;
  const seconds = Math.round((performance.now() - began) / 1_000);
  const memory =
    mostBytes === 0 ? '' : `, ${Math.round(mostBytes / 2 ** 20)} MiB of memory at most`;
  process.stdout.write(`${said}exit ${code} after ${seconds} s${memory}\n`);
  const headlines = said.match(/^[a-z ]+: MR\b/gm) ?? [];
  return code === 0 && headlines.length > 0 && headlines.every((line) => line === 'identical: MR');
}

/** Bytes resident at most, as Linux tells of a process; null: it does not. */
function mostMemoryOf(pid) {
  try {
    const kib = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kib === undefined ? null : Number(kib) * 1_024;
  } catch {
    return null;
  }
}

async function ask(subject, body = {}) {
  const payload = JSON.stringify(body);
  const answer = await client.request(`$JS.API.${subject}`, payload, { timeout: ANSWER_WITHIN_MS });
  const { error, ...rest } = answer.json();
  if (error !== undefined) throw new Error(`${subject}: ${error.description}`);
  return rest;
}

function options() {
  try {
    const { values } = parseArgs({
      options: {
        messages: { type: 'string', default: '1000000' },
        every: { type: 'string', default: '3' },
      },
    });
    return {
      messages: wholeOf('--messages', values.messages),
      everyMs: 1_000 * wholeOf('--every', values.every),
    };
  } catch (error) {
    return refuse(error.message);
  }
}

function wholeOf(flag, text) {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Error(`${flag}: "${text}" is not a whole number from 1`);
}

function refuse(text) {
  console.error(`verify-through-step-downs: ${text}`);
  process.exit(USAGE);
}
