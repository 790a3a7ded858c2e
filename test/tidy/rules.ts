/** The rules that the tree keeps, as functions over source text, so that each can be shown to fail. */
import ts from 'typescript';

export interface SourceFile {
  /** Path from the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** What a folder of src may import, by value and by type; a folder may always import itself. */
const ARROWS: Readonly<Record<string, { readonly value: string[]; readonly type: string[] }>> = {
  base: { value: [], type: [] },
  raft: { value: ['base'], type: [] },
  stream: { value: ['base'], type: [] },
  mirror: { value: ['base', 'stream'], type: [] },
  replica: { value: ['base', 'raft', 'stream', 'mirror'], type: [] },
  election: { value: ['base'], type: ['raft'] },
  origin: { value: ['base', 'stream'], type: ['mirror', 'scenario', 'verdict'] },
  scenario: { value: ['base', 'verdict'], type: ['raft', 'stream', 'mirror', 'replica'] },
  verdict: { value: ['base', 'stream'], type: ['raft', 'mirror', 'replica', 'scenario'] },
  report: { value: ['base'], type: ['verdict', 'scenario', 'stream'] },
  threads: {
    value: [
      'base',
      'raft',
      'stream',
      'mirror',
      'replica',
      'election',
      'origin',
      'scenario',
      'verdict',
    ],
    type: [],
  },
  sim: {
    value: [
      'base',
      'raft',
      'stream',
      'mirror',
      'replica',
      'election',
      'origin',
      'scenario',
      'verdict',
    ],
    type: [],
  },
  nats: { value: ['base', 'stream', 'scenario', 'verdict'], type: ['mirror', 'replica'] },
};
/** On top: these may import everything below. */
const TOP = ['cli', 'vitest', 'index.ts'];

const PURE = ['raft', 'stream', 'mirror', 'election', 'replica'];
const BANNED_NAMES: Readonly<Record<string, string>> = {
  Date: 'a tick or a time given as an argument',
  performance: 'a time given as an argument',
  setTimeout: 'tick()',
  setInterval: 'tick()',
  setImmediate: 'tick()',
  queueMicrotask: 'a synchronous call',
  process: 'an option',
  Promise: 'a synchronous call and a completion as an input',
  console: 'an event',
};

interface Import {
  readonly from: string;
  readonly typeOnly: boolean;
}

function parse(file: SourceFile): ts.SourceFile {
  return ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true);
}

function visit(node: ts.Node, each: (node: ts.Node) => void): void {
  each(node);
  ts.forEachChild(node, (child) => {
    visit(child, each);
  });
}

export function importsOf(file: SourceFile): Import[] {
  const imports: Import[] = [];
  visit(parse(file), (node) => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      const { moduleSpecifier } = node;
      if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) return;
      imports.push({ from: moduleSpecifier.text, typeOnly: isTypeOnly(node) });
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [argument] = node.arguments;
      if (argument !== undefined && ts.isStringLiteral(argument)) {
        imports.push({ from: argument.text, typeOnly: false });
      }
    }
  });
  return imports;
}

function isTypeOnly(node: ts.ImportDeclaration | ts.ExportDeclaration): boolean {
  if (ts.isExportDeclaration(node)) return node.isTypeOnly;
  const clause = node.importClause;
  if (clause === undefined) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const names = clause.namedBindings;
  if (clause.name !== undefined || names === undefined || !ts.isNamedImports(names)) return false;
  return names.elements.every((element) => element.isTypeOnly);
}

/** `src/raft/log.ts` -> `raft`; `src/index.ts` -> `index.ts`. */
function folderOf(path: string): string {
  return path.split('/')[1] ?? '';
}

function resolve(path: string, from: string): string {
  const parts = path.split('/').slice(0, -1);
  for (const part of from.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/').replace(/\.js$/, '.ts');
}

/** Imports between folders of src that no arrow allows. */
export function arrowFaults(file: SourceFile): string[] {
  const folder = folderOf(file.path);
  return importsOf(file).flatMap(({ from, typeOnly }) => {
    if (from === 'nats' && folder !== 'nats') return [`${file.path}: only src/nats imports nats`];
    if (!from.startsWith('.')) return [];
    const target = resolve(file.path, from);
    if (target.startsWith('workers/')) return [`${file.path}: workers are reached by URL only`];
    const other = folderOf(target);
    const arrows = ARROWS[folder];
    if (other === folder || TOP.includes(folder)) return [];
    const allowed =
      arrows !== undefined &&
      (arrows.value.includes(other) || (typeOnly && arrows.type.includes(other)));
    return allowed ? [] : [`${file.path}: ${folder} may not import ${other} (${from})`];
  });
}

/** Clocks, randomness, IO and promises in folders that must be pure. */
export function purityFaults(file: SourceFile): string[] {
  if (!PURE.includes(folderOf(file.path))) return [];
  const faults: string[] = [];
  for (const { from } of importsOf(file)) {
    if (from.startsWith('node:')) faults.push(`${file.path}: imports ${from}`);
  }
  visit(parse(file), (node) => {
    if (ts.isIdentifier(node) && BANNED_NAMES[node.text] !== undefined && !isMember(node)) {
      faults.push(`${file.path}: ${node.text} is banned, use ${BANNED_NAMES[node.text]}`);
    }
    if (ts.isPropertyAccessExpression(node) && node.getText() === 'Math.random') {
      faults.push(`${file.path}: Math.random is banned, use a Prng`);
    }
    if (node.kind === ts.SyntaxKind.AsyncKeyword || ts.isAwaitExpression(node)) {
      faults.push(`${file.path}: async code is banned, use a completion as an input`);
    }
  });
  return faults;
}

function isMember(node: ts.Identifier): boolean {
  const { parent } = node;
  return (
    (ts.isPropertyAccessExpression(parent) && parent.name === node) ||
    (ts.isPropertyAssignment(parent) && parent.name === node)
  );
}

const COLUMNS = 100;
const LINES = 450;
const FUNCTION_LINES = 70;

/** Lines too long, files too long, functions that fit no screen, leftovers, drawers. */
export function shapeFaults(file: SourceFile): string[] {
  const faults: string[] = [];
  const lines = file.text.split('\n');
  lines.forEach((line, at) => {
    if (line.length > COLUMNS) faults.push(`${file.path}:${at + 1}: ${line.length} columns`);
    if (/\b(TODO|FIXME|XXX)\b/.test(line)) faults.push(`${file.path}:${at + 1}: a leftover`);
  });
  if (lines.length > LINES) faults.push(`${file.path}: ${lines.length} lines`);
  if (/\/(utils?|helpers?|common|managers?)(\/|\.ts$)/.test(file.path)) {
    faults.push(`${file.path}: a drawer, name what it does`);
  }
  visit(parse(file), (node) => {
    if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) return;
    const height = node.getText().split('\n').length;
    if (height > FUNCTION_LINES) faults.push(`${file.path}: a function of ${height} lines`);
  });
  return faults;
}

/** Files of src that no file of src or workers imports; entry points excepted. */
export function orphans(files: readonly SourceFile[], entries: readonly string[]): string[] {
  const imported = new Set(
    files.flatMap((file) => importsOf(file).map(({ from }) => resolve(file.path, from))),
  );
  return files
    .map(({ path }) => path)
    .filter((path) => path.startsWith('src/') && !path.endsWith('.d.ts'))
    .filter((path) => !imported.has(path) && !entries.includes(path));
}
