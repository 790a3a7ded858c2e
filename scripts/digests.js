#!/usr/bin/env node
/**
 * Compares the event streams of the first drawn seeds with the digests in test/sim/digests.json,
 * so that a change of behaviour is never a surprise, and no engine plays a seed differently:
 *
 *   node scripts/digests.js                    exit 0: all the same; 1: some differ, each named
 *   node scripts/digests.js --write REASON     writes what they are now; a reason is required
 *
 * Runs on the build.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { loadHasher } from '../dist/src/base/hasher.js';
import { playSeed } from '../dist/src/sim/seeds.js';
import { TraceDigest } from '../dist/src/sim/trace.js';

const SEEDS = 50;
const FILE = new URL('../test/sim/digests.json', import.meta.url);
const USAGE = 64;

const [flag, reason, ...rest] = process.argv.slice(2);
if (flag === undefined) process.exitCode = compare(read(), await digests());
else if (flag !== '--write' || rest.length > 0) refuse('usage: digests [--write REASON]');
else if (!reason?.trim()) refuse('--write: say why the digests change, in one quoted reason');
else write(reason.trim(), await digests());

/** The digest of each seed, by its number. */
async function digests() {
  const hasher = await loadHasher();
  const found = {};
  for (let seed = 1; seed <= SEEDS; seed++) {
    const digest = new TraceDigest(hasher);
    found[seed] = digest.ended(await playSeed({ kind: 'drawn' }, seed, hasher, digest));
  }
  return found;
}

function compare(kept, found) {
  const differing = Object.keys(found).filter((seed) => found[seed] !== kept.digests[seed]);
  for (const seed of differing) {
    console.error(`seed ${seed}: ${found[seed]} is not ${kept.digests[seed]}`);
  }
  const of = `of ${SEEDS} seeds on Node ${process.versions.node}`;
  console.log(`${SEEDS - differing.length} ${of} are as lockstep ${kept.version} played them`);
  if (differing.length === 0) return 0;
  console.error('If they are meant to differ: npm run digests -- --write "why"');
  return 1;
}

function write(why, found) {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  writeFileSync(FILE, `${JSON.stringify({ version, why, digests: found }, null, 2)}\n`);
  console.log(`For the commit message:\n\nDigests: ${why}`);
}

function read() {
  return JSON.parse(readFileSync(FILE, 'utf8'));
}

function refuse(text) {
  console.error(`digests: ${text}`);
  process.exitCode = USAGE;
}
