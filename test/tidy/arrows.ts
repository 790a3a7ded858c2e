/** Who may import whom. One table for folders, one for packages; what is not in them is a fault. */
import { builtinModules } from 'node:module';
import { folderOf, importsOf, resolve, type Import, type SourceFile } from './source.js';

interface Arrows {
  readonly value: readonly string[];
  /** Allowed beside `value`, by `import type` only. */
  readonly type: readonly string[];
}

const UNIT = ['base', 'raft', 'stream', 'mirror', 'replica'];
const DRIVEN = [...UNIT, 'election', 'origin', 'scenario', 'verdict'];
const ALL = [...DRIVEN, 'threads', 'sim', 'nats', 'verify', 'report'];
const LIBRARY = [...ALL, 'kit'];

/** A folder may always import itself. */
const ARROWS: Readonly<Record<string, Arrows>> = {
  base: { value: [], type: [] },
  raft: { value: ['base'], type: [] },
  stream: { value: ['base'], type: [] },
  mirror: { value: ['base', 'stream'], type: [] },
  replica: { value: ['base', 'raft', 'stream', 'mirror'], type: [] },
  election: { value: ['base'], type: ['raft'] },
  origin: { value: ['base', 'stream'], type: ['mirror', 'scenario', 'verdict'] },
  verdict: { value: ['base', 'stream'], type: [...UNIT, 'election', 'scenario'] },
  scenario: { value: ['base', 'verdict'], type: [...UNIT, 'election'] },
  report: { value: ['base'], type: ['verdict', 'scenario', 'stream', 'verify'] },
  threads: { value: DRIVEN, type: [] },
  sim: { value: DRIVEN, type: [] },
  nats: { value: DRIVEN, type: [] },
  verify: { value: [...DRIVEN, 'nats', 'report'], type: [] },
  kit: { value: ALL, type: [] },
  vitest: { value: LIBRARY, type: [] },
  'fast-check': { value: LIBRARY, type: [] },
  cli: { value: LIBRARY, type: [] },
  'index.ts': { value: LIBRARY, type: [] },
  workers: { value: [...DRIVEN, 'threads', 'sim', 'nats'], type: [] },
};

/** Packages that belong to one folder. */
const PACKAGES: Readonly<Record<string, string>> = {
  nats: 'nats',
  vitest: 'vitest',
  commander: 'cli',
  'fast-check': 'fast-check',
};

/** Imports of src and workers that no arrow allows. */
export function arrowFaults(file: SourceFile): string[] {
  return importsOf(file).flatMap((each) => {
    const fault = each.from.startsWith('.') ? towards(file, each) : ofPackage(file, each.from);
    return fault === null ? [] : [`${file.path}: ${fault} (${each.from})`];
  });
}

function towards(file: SourceFile, { from, typeOnly }: Import): string | null {
  const folder = folderOf(file.path);
  const target = resolve(file.path, from);
  const other = folderOf(target);
  if (other === 'workers') return 'workers are reached by URL only';
  if (other === folder) return null;
  const arrows = ARROWS[folder];
  if (arrows === undefined) return `no arrows are drawn for ${folder}`;
  if (arrows.value.includes(other)) return null;
  if (!arrows.type.includes(other)) return `${folder} may not import ${other}`;
  return typeOnly ? null : `${folder} may import ${other} by type only`;
}

function ofPackage(file: SourceFile, from: string): string | null {
  const name = packageOf(from);
  const owner = PACKAGES[name.startsWith('@nats-io/') ? 'nats' : name];
  if (owner === undefined || owner === folderOf(file.path)) return null;
  return `only src/${owner} imports ${name}`;
}

/** Imports of workers from tests and benches, which are no folders with arrows. */
export function workerFaults(file: SourceFile): string[] {
  return importsOf(file)
    .filter(({ from }) => from.startsWith('.') && resolve(file.path, from).startsWith('workers/'))
    .map(({ from }) => `${file.path}: workers are reached by URL only (${from})`);
}

/** Packages that the product imports although whoever installs it does not get them. */
export function packageFaults(file: SourceFile, installed: readonly string[]): string[] {
  return importsOf(file)
    .map(({ from }) => from)
    .filter((from) => !from.startsWith('.') && !isBuiltin(from))
    .filter((from) => !installed.includes(packageOf(from)))
    .map((from) => `${file.path}: ${from} is no dependency of package.json`);
}

/** Node's own modules, with their prefix or without. */
export function isBuiltin(from: string): boolean {
  return from.startsWith('node:') || builtinModules.includes(from);
}

/** `comlink/dist/x.mjs` -> `comlink`; `@scope/name/x` -> `@scope/name`. */
function packageOf(from: string): string {
  return from
    .split('/')
    .slice(0, from.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Files of src that nothing among `files` imports; entry points excepted. */
export function orphans(files: readonly SourceFile[], entries: readonly string[]): string[] {
  const imported = new Set(
    files.flatMap((file) => importsOf(file).map(({ from }) => resolve(file.path, from))),
  );
  return files
    .map(({ path }) => path)
    .filter((path) => path.startsWith('src/') && !path.endsWith('.d.ts'))
    .filter((path) => !imported.has(path) && !entries.includes(path));
}

interface Manifest {
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** The sources behind what package.json offers: its commands and its exports. */
export function entriesOf({ bin, exports }: Manifest): string[] {
  const built = [...Object.values(bin), ...Object.values(exports).flatMap(Object.values<string>)];
  const sources = built.map((path) =>
    path.replace(/^(\.\/)?dist\//, '').replace(/(\.d)?\.[jt]s$/, '.ts'),
  );
  return [...new Set(sources)];
}
