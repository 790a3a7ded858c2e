/** The version of lockstep that runs: built, or from its source under a test runner. */
import { readFileSync } from 'node:fs';

export function version(): string {
  const root = import.meta.url.endsWith('.ts') ? '../..' : '../../..';
  const file = new URL(`${root}/package.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
