/** What the process was started with, as connections ask for it. */
import { homedir, userInfo } from 'node:os';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Empty is not set. */
export function variable(env: Environment, name: string): string | undefined {
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  return value === '' ? undefined : value;
}

/** The account's own, as natscli has it: HOME is asked only where the account has none. */
export function accountHome(): string {
  try {
    return userInfo().homedir || homedir();
  } catch {
    return homedir();
  }
}
