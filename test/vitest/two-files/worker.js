/** A worker of a sweep that says when it begins and ends to play, and for whom. */
import { appendFileSync } from 'node:fs';
import process from 'node:process';

const { LOG } = process.env;
const nap = new Int32Array(new SharedArrayBuffer(4));

export default function play({ subject, seed }) {
  appendFileSync(LOG, `+${subject.name}\n`);
  Atomics.wait(nap, 0, 0, 10);
  appendFileSync(LOG, `-${subject.name}\n`);
  return { report: { seed, failure: null, simulatedMs: 1, cells: {} }, trace: null };
}
