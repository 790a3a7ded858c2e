/** Operator, account and user of a server in operator mode, as the JWTs that it wants of them. */
import { nkeys } from 'nats';

/** The client's nkeys come without types. */
interface Pair {
  getPublicKey(): string;
  getSeed(): Uint8Array;
  sign(bytes: Uint8Array): Uint8Array;
}

const { createAccount, createOperator, createUser } = nkeys as Record<string, () => Pair>;

const UNLIMITED = { subs: -1, data: -1, payload: -1 };
const ACCOUNT = {
  ...UNLIMITED,
  ...{ imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 },
};
const JETSTREAM = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };

export interface Operated {
  /** Lines of a server's configuration. */
  readonly config: string;
  readonly creds: string;
  /** Of an account that the server does not know. */
  readonly strange: string;
  /** What must never be shown. */
  readonly secrets: readonly string[];
}

export function operated(): Operated {
  const [operator, system, account] = [createOperator!(), createAccount!(), createAccount!()];
  const [user, stranger] = [createUser!(), createUser!()];
  const accountOf = (pair: Pair, name: string, limits: object): string =>
    jwt(operator, pair.getPublicKey(), name, { limits, type: 'account' });
  const userJwt = userOf(account, user);
  const strangerJwt = userOf(createAccount!(), stranger);
  const config = [
    `operator: ${jwt(operator, operator.getPublicKey(), 'operator', { type: 'operator' })}`,
    `system_account: ${system.getPublicKey()}`,
    'resolver: MEMORY',
    'resolver_preload {',
    `  ${system.getPublicKey()}: ${accountOf(system, 'SYS', ACCOUNT)}`,
    `  ${account.getPublicKey()}: ${accountOf(account, 'A', { ...ACCOUNT, ...JETSTREAM })}`,
    '}',
  ];
  const [seed, strangeSeed] = [user, stranger].map((pair) =>
    Buffer.from(pair.getSeed()).toString(),
  );
  return {
    config: config.join('\n'),
    creds: credsOf(userJwt, seed!),
    strange: credsOf(strangerJwt, strangeSeed!),
    secrets: [userJwt, seed!, strangerJwt, strangeSeed!],
  };
}

function userOf(account: Pair, user: Pair): string {
  return jwt(account, user.getPublicKey(), 'user', { ...UNLIMITED, type: 'user' });
}

function jwt(issuer: Pair, subject: string, name: string, nats: object): string {
  const claims = {
    ...{ jti: name, iat: 1_577_836_800, iss: issuer.getPublicKey(), sub: subject, name },
    nats: { ...nats, version: 2 },
  };
  const parts = [{ typ: 'JWT', alg: 'ed25519-nkey' }, claims];
  const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  const signed = text.join('.');
  return `${signed}.${Buffer.from(issuer.sign(Buffer.from(signed))).toString('base64url')}`;
}

function credsOf(userJwt: string, seed: string): string {
  return [
    `-----BEGIN NATS USER JWT-----\n${userJwt}\n------END NATS USER JWT------`,
    `-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`,
  ].join('\n\n');
}
