/** A worker of a sweep that ends on some seeds: 13 exits, 21 needs too much memory. */
let played = 0;

export default function play({ seed }) {
  if (seed === 13) process.exit(3);
  if (seed === 21) fill();
  // Only behind others: whoever plays it first does not end.
  if (seed === 31 && played > 0) process.exit(4);
  played++;
  return { report: { seed, failure: null, simulatedMs: 1, cells: {} }, trace: null };
}

function fill() {
  const lists = [];
  for (;;) lists.push(Array.from({ length: 100_000 }, (_, at) => ({ at })));
}
