/** The version of lockstep that runs. */
import { readFileSync } from 'node:fs';

export function version(): string {
  const file = new URL('../../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
