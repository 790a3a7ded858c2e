/** Says once what the suites of real servers skip for: a skipped test's reason is rarely shown. */
import { lacksServer } from '../../src/nats/driver.js';

export function setup(): void {
  const lack = lacksServer(process.env);
  if (lack === null || process.env['LOCKSTEP_REQUIRE_NATS'] === '1') return;
  process.stderr.write(`suites of real servers are skipped: ${lack}\n`);
}
