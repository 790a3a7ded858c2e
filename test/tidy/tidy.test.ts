import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { arrowFaults, orphans, purityFaults, shapeFaults, type SourceFile } from './rules.js';

function load(...roots: string[]): SourceFile[] {
  return roots.flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${root}/${name.replaceAll('\\', '/')}`)
      .map((path) => ({ path, text: readFileSync(path, 'utf8') })),
  );
}

describe('tidy: the tree', () => {
  const product = load('src', 'workers');
  const src = product.filter(({ path }) => path.startsWith('src/'));

  it('keeps the arrows between folders', () => {
    expect(src.flatMap(arrowFaults)).toEqual([]);
  });

  it('keeps clock, randomness, IO and promises out of the pure folders', () => {
    expect(src.flatMap(purityFaults)).toEqual([]);
  });

  it('fits lines, files and functions', () => {
    expect([...product, ...load('bench')].flatMap(shapeFaults)).toEqual([]);
  });

  it('has no file that nobody imports', () => {
    expect(orphans(product, ['src/index.ts', 'src/cli/main.ts'])).toEqual([]);
  });
});

describe('tidy: each rule can fail', () => {
  const at = (path: string, text: string): SourceFile => ({ path, text });

  it('arrows: raft importing stream, a value where a type is allowed, nats elsewhere', () => {
    expect(arrowFaults(at('src/raft/a.ts', "import { b } from '../stream/b.js';"))).toHaveLength(1);
    const byValue = at('src/election/a.ts', "import { Raft } from '../raft/raft.js';");
    const byType = at('src/election/a.ts', "import type { Role } from '../raft/types.js';");
    expect(arrowFaults(byValue)).toHaveLength(1);
    expect(arrowFaults(byType)).toEqual([]);
    expect(arrowFaults(at('src/cli/a.ts', "import { connect } from 'nats';"))).toHaveLength(1);
    expect(arrowFaults(at('src/threads/a.ts', "import '../sim/b.js';"))).toHaveLength(1);
    expect(arrowFaults(at('src/threads/a.ts', "import '../../workers/b.js';"))).toHaveLength(1);
  });

  it('purity: clocks, randomness, timers, promises, node', () => {
    for (const text of [
      'Date.now();',
      'Math.random();',
      'setTimeout(() => 1, 1);',
      'async function a() {}',
      "import 'node:fs';",
      'const a: Promise<number> = b;',
      'process.exit();',
    ]) {
      expect(purityFaults(at('src/raft/a.ts', text)), text).not.toEqual([]);
      expect(purityFaults(at('src/threads/a.ts', text)), text).toEqual([]);
    }
  });

  it('shape: long lines, long files, long functions, leftovers, drawers', () => {
    expect(shapeFaults(at('src/a/b.ts', `// ${'x'.repeat(100)}`))).toHaveLength(1);
    expect(shapeFaults(at('src/a/b.ts', '\n'.repeat(500)))).toHaveLength(1);
    const body = '  a();\n'.repeat(80);
    expect(shapeFaults(at('src/a/b.ts', `function f() {\n${body}}`))).toHaveLength(1);
    expect(shapeFaults(at('src/a/b.ts', `// TODO: later`))).toHaveLength(1);
    expect(shapeFaults(at('src/a/utils.ts', ''))).toHaveLength(1);
  });

  it('orphans: a file that nobody imports', () => {
    const files = [at('src/a/b.ts', "import './c.js';"), at('src/a/c.ts', '')];
    expect(orphans(files, [])).toEqual(['src/a/b.ts']);
  });
});
