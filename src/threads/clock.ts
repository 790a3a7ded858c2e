/** Milliseconds of the process's monotonic clock: the same in every thread, with a fraction. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
