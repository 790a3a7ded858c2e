#!/usr/bin/env node
/**
 * `lockstep verify` while the mirror's leader steps down every few seconds: fills a stream on three
 * servers of its own, mirrors it on all three, and compares, from end to end, twice: with the
 * origin, then replica by replica.
 *
 *     node scripts/verify-through-step-downs.js [--messages 1000000] [--every 3]
 *
 * `--every` is in seconds. Prints the commands, what they say, and how often the leader changed;
 * exit 0 only if both say `identical`. Runs on the build, with the server of LOCKSTEP_NATS_SERVER
 * or the PATH.
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
const FLUSH_EVERY = 2_000;
const ANSWER_WITHIN_MS = 20_000;
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
} finally {
  await client.close();
  await cluster[Symbol.asyncDispose]();
}

/** An origin of so many messages, and a mirror that has all of them. */
async function fill() {
  const began = performance.now();
  const placed = { storage: 'file', num_replicas: 3 };
  await ask('STREAM.CREATE.ORDERS', { name: 'ORDERS', subjects: ['orders.>'], ...placed });
  await ask('STREAM.CREATE.MR', { name: 'MR', mirror: { name: 'ORDERS' }, ...placed });
  const payload = new Uint8Array(PAYLOAD_BYTES);
  const view = new DataView(payload.buffer);
  for (let seq = 1; seq <= messages; seq++) {
    view.setUint32(0, seq);
    client.publish(`orders.${seq % 100}`, payload);
    if (seq % FLUSH_EVERY === 0 || seq === messages) await until('ORDERS', seq);
  }
  await until('MR', messages);
  const seconds = Math.round((performance.now() - began) / 1_000);
  console.log(`${messages} messages of ${PAYLOAD_BYTES} bytes, mirrored, in ${seconds} s`);
}

/** Waits until a stream holds so many. */
async function until(stream, seq) {
  for (;;) {
    const { state } = await ask(`STREAM.INFO.${stream}`).catch(() => ({ state: { last_seq: 0 } }));
    if (state.last_seq >= seq) return;
    await sleep(2);
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
  });
  let mostBytes = 0;
  const looking = setInterval(() => (mostBytes = mostMemoryOf(child.pid) ?? mostBytes), 250);
  let said = '';
  for await (const chunk of child.stdout) said += chunk;
  clearInterval(looking);
  const code = child.exitCode ?? (await new Promise((resolve) => child.once('exit', resolve)));
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
