/**
 * Where a credential is kept, as natscli's flags and contexts write it: PATH, file://PATH,
 * env://NAME or data:;base64,TEXT. Variables and inline text are taken at once, files are read when
 * a connection is made. Source: jsm.go 0.5.1, natscontext: credentials.go, resolver_*.go.
 */
import { join } from 'node:path';
import { LockstepError } from '../base/errors.js';
import { plain } from '../base/plain.js';
import { Secret } from '../base/secret.js';
import { holdsSecret } from '../scenario/connection.js';
import { readInput } from '../scenario/input-file.js';
import { readText } from '../scenario/source.js';
import { accountHome, variable, type Environment } from './environment.js';

/** What a user wrote, and what names it in errors, such as NATS_CREDS. */
export interface Written {
  readonly what: string;
  readonly text: string;
}

export type Located =
  | { readonly kind: 'file'; readonly what: string; readonly path: string }
  | { readonly kind: 'text'; readonly what: string; readonly text: Secret };

/** What text without a scheme is: a path; the word itself; or itself by its shape, else a path. */
export type Bare = 'path' | 'word' | 'shape';

/** Schemes that another program answers, and what to do without it. */
const PROGRAMS: Readonly<Record<string, string>> = {
  op:
    'the 1Password CLI, which lockstep does not run: put what `op read` prints into a variable, ' +
    'and name it as env://NAME',
  nsc: 'nsc, which lockstep does not run: name the file that `nsc generate creds` writes',
};
const KNOWN = /^(file|env|data|op|nsc):/i;
const FOREIGN = /^[a-z][a-z\d+.-]+:\/\//i;
/** Of text that looks like a credential where none is taken, or like a part of one. */
const EXPECTED = {
  path: 'a credential itself is not taken here: name a file, file://PATH or env://NAME',
  shape: 'not a whole one, and no file, file://PATH or env://NAME',
};
/** A JWT, and the seed of an nkey. */
const ITSELF = /^(eyJ[\w-]*\.[\w-]+\.[\w-]+|S[A-Z2-7]{57})$/;

/** Errors: usage, naming what was written and never what may be a secret. */
export function locate({ what, text }: Written, bare: Bare, env: Environment): Located {
  const scheme = KNOWN.exec(text)?.[1]?.toLowerCase();
  if (scheme === 'file') return { kind: 'file', what, path: pathOf({ what, text }, env) };
  if (scheme === 'env') return inlineOf(what, valueOf(what, text, env), bare);
  if (scheme === 'data') return inlineOf(what, decodedOf(what, text), bare);
  if (scheme !== undefined) throw refused(what, `${scheme}:// needs ${PROGRAMS[scheme]!}`);
  if (bare === 'word') return { kind: 'text', what, text: new Secret(text) };
  if (bare === 'shape' && ITSELF.test(text.trim())) return inlineOf(what, text, bare);
  if (holdsSecret(text) && !text.includes('/')) throw refused(what, EXPECTED[bare]);
  return { kind: 'file', what, path: pathOf({ what, text }, env) };
}

/** PATH or file://PATH, with ~ and $NAME in it. Errors: usage, on another scheme. */
export function pathOf({ what, text }: Written, env: Environment): string {
  const path = text.replace(/^file:\/\//i, '');
  if (path === text && (KNOWN.test(text) || FOREIGN.test(text))) {
    throw refused(
      what,
      `${text.slice(0, text.indexOf(':'))}: is not taken here, only PATH or file://PATH`,
    );
  }
  const name = /\$(?:\{(\w+)\}|([A-Za-z_]\w*))/g;
  const expanded = path.replace(name, (_, braced?: string, open?: string) => {
    return variable(env, braced ?? open ?? '') ?? '';
  });
  if (expanded !== '~' && !expanded.startsWith('~/')) return expanded;
  return join(accountHome(), expanded.slice(1));
}

/** Errors: usage, naming the file. */
export function contentOf(located: Located): string {
  if (located.kind === 'text') return located.text.reveal();
  return readText(located.what, located.path, readInput);
}

/** That of one line, without the line's end. */
export function wordOf(located: Located): string {
  const content = contentOf(located);
  return located.kind === 'file' ? withoutEnd(content) : content;
}

/** For errors: the file, or what named it. */
export function shownOf(located: Located): string {
  return located.kind === 'file' ? plain(located.path) : located.what;
}

function inlineOf(what: string, text: string, bare: Bare): Located {
  return { kind: 'text', what, text: new Secret(bare === 'path' ? text : withoutEnd(text)) };
}

function valueOf(what: string, text: string, env: Environment): string {
  const name = /^env:\/\/([^=\0]+)$/i.exec(text)?.[1];
  if (name === undefined) throw refused(what, 'a variable is written as env://NAME');
  const value = variable(env, name);
  if (value !== undefined) return value;
  throw refused(what, `env://${plain(name)}: the variable is not set`);
}

/** Strict: what a lenient decoder makes of a slip would be refused by the server much later. */
function decodedOf(what: string, text: string): string {
  const match = /^data:([^,]*),([^]*)$/i.exec(text);
  const words = (match?.[1] ?? '').split(';').map((word) => word.trim());
  const payload = (match?.[2] ?? '').replace(/[\r\n]/g, '');
  const isWhole = payload.length % 4 === 0 && /^[A-Za-z\d+/]+={0,2}$/.test(payload);
  if (words.includes('base64') && isWhole) return Buffer.from(payload, 'base64').toString();
  throw refused(what, 'data: is not data:;base64, and text in base64');
}

function withoutEnd(text: string): string {
  return text.replace(/[\r\n]+$/, '');
}

function refused(what: string, why: string): LockstepError {
  return new LockstepError('usage', `${what}: ${why}`);
}
