/** A worker of a sweep that ends on some seeds: 13 exits, 21 needs too much memory. */
export default function play({ seeds }) {
  return seeds.map((seed) => {
    if (seed === 13) process.exit(3);
    if (seed === 21) fill();
    // Only in a row: whoever plays it behind another seed ends.
    if (seed === 31 && seeds[0] !== 31) process.exit(4);
    return { report: { seed, failure: null, simulatedMs: 1, cells: {} }, trace: null };
  });
}

function fill() {
  const lists = [];
  for (;;) lists.push(Array.from({ length: 100_000 }, (_, at) => ({ at })));
}
