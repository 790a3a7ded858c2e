/** Source text as the rules see it: files, their syntax trees, what they import. */
import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';

export interface SourceFile {
  /** Path from the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

export interface Import {
  /** The specifier as written. */
  readonly from: string;
  /** True when nothing of the import is left at run time. */
  readonly typeOnly: boolean;
}

const trees = new WeakMap<SourceFile, ts.SourceFile>();

/** Every .ts file below the roots; a root that does not exist has none. */
export function load(...roots: readonly string[]): SourceFile[] {
  const present = readdirSync('.');
  return roots
    .filter((root) => present.includes(root))
    .flatMap((root) =>
      readdirSync(root, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => `${root}/${name.replaceAll('\\', '/')}`)
        .map((path) => ({ path, text: readFileSync(path, 'utf8') })),
    );
}

/** The syntax tree of a file, with parents; parsed once. */
export function parse(file: SourceFile): ts.SourceFile {
  let tree = trees.get(file);
  if (tree === undefined) {
    tree = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true);
    trees.set(file, tree);
  }
  return tree;
}

export function visit(node: ts.Node, each: (node: ts.Node) => void): void {
  each(node);
  ts.forEachChild(node, (child) => {
    visit(child, each);
  });
}

/** `path:line` of a node. */
export function placeOf(file: SourceFile, node: ts.Node): string {
  const { line } = parse(file).getLineAndCharacterOfPosition(node.getStart());
  return `${file.path}:${line + 1}`;
}

/** Imports, re-exports, import() calls and import types, in the order of the text. */
export function importsOf(file: SourceFile): Import[] {
  const imports: Import[] = [];
  visit(parse(file), (node) => {
    const from = specifierOf(node);
    if (from !== null) imports.push({ from, typeOnly: isTypeOnly(node) });
  });
  return imports;
}

function specifierOf(node: ts.Node): string | null {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
    return textOf(node.moduleSpecifier);
  }
  if (ts.isImportTypeNode(node)) {
    return ts.isLiteralTypeNode(node.argument) ? textOf(node.argument.literal) : null;
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    return textOf(node.arguments[0]);
  }
  return null;
}

function textOf(node: ts.Node | undefined): string | null {
  return node !== undefined && ts.isStringLiteralLike(node) ? node.text : null;
}

/** `import { type A }` is not: under verbatimModuleSyntax the module is still loaded. */
function isTypeOnly(node: ts.Node): boolean {
  if (ts.isImportTypeNode(node)) return true;
  if (ts.isExportDeclaration(node)) return node.isTypeOnly;
  return (
    ts.isImportDeclaration(node) && node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
  );
}

/** `src/raft/log.ts` -> `raft`; `src/index.ts` -> `index.ts`; `workers/replica.ts` -> `workers`. */
export function folderOf(path: string): string {
  const [root = '', below = ''] = path.split('/');
  return root === 'src' ? below : root;
}

/** The source file that a relative specifier means: `./log.js` in src/raft -> `src/raft/log.ts`. */
export function resolve(path: string, from: string): string {
  const parts = path.split('/').slice(0, -1);
  for (const part of from.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/').replace(/\.js$/, '.ts');
}
