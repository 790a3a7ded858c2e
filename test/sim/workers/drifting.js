/** A worker of a sweep in which one draw and one event of seed 3 depend on what came before. */
import { Trace } from '../../../dist/src/sim/trace.js';

let played = 0;

export default function play({ seed }) {
  const trace = new Trace();
  trace.onDraw('links/r1 to r2/delay', 7);
  trace.onEvent({ kind: 'firstDelivery', atMs: 1 });
  trace.onDraw('links/r1 to r2/delay', seed === 3 ? played : 8);
  trace.onEvent({ kind: 'handedOut', atMs: seed === 3 ? played : 2 });
  played++;
  const report = { seed, failure: null, simulatedMs: 2, cells: {} };
  return { report, trace: trace.ended(report) };
}
