/** The rules that the tree keeps, and proof that each of them can be broken. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  arrowFaults,
  entriesOf,
  isBuiltin,
  orphans,
  packageFaults,
  workerFaults,
} from './arrows.js';
import { purityFaults, seedFaults } from './purity.js';
import { shapeFaults, textFaults } from './shape.js';
import { load, type SourceFile } from './source.js';

interface Manifest {
  readonly bin: Record<string, string>;
  readonly exports: Record<string, Record<string, string>>;
  readonly dependencies: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;

describe('tidy: the tree', () => {
  const product = load('src', 'workers');
  const beside = load('bench', 'conformance', 'known', 'mutants', 'soak', 'test', 'examples');

  it('is read at all', () => {
    expect(product.map(({ path }) => path)).toContain('src/base/errors.ts');
  });

  it('arrows: folders import only what lies below them', () => {
    expect(product.flatMap(arrowFaults)).toEqual([]);
  });

  it('arrows: workers are reached by URL only', () => {
    expect(beside.flatMap(workerFaults)).toEqual([]);
  });

  it('arrows: the product imports only what is installed with it', () => {
    const { dependencies, peerDependencies } = manifest;
    const installed = Object.keys({ ...dependencies, ...peerDependencies });
    expect(product.flatMap((file) => packageFaults(file, installed))).toEqual([]);
  });

  it('arrows: what package.json offers has a source', () => {
    expect(entriesOf(manifest).filter((path) => !existsSync(path))).toEqual([]);
  });

  it('arrows: no file is imported by nobody', () => {
    expect(orphans(product, entriesOf(manifest))).toEqual([]);
  });

  it('purity: no clock, randomness, IO or promise in the pure folders', () => {
    expect(product.flatMap(purityFaults)).toEqual([]);
  });

  it('purity: no arithmetic that engines differ in where a seed must repeat', () => {
    expect(product.flatMap(seedFaults)).toEqual([]);
  });

  it('shape: lines, leftovers and names', () => {
    expect([...product, ...beside].flatMap(textFaults)).toEqual([]);
  });

  it('shape: files and functions fit, files say what they are for', () => {
    expect(
      [...product, ...load('bench', 'conformance', 'known', 'mutants', 'soak')].flatMap(
        shapeFaults,
      ),
    ).toEqual([]);
  });
});

function at(path: string, text: string): SourceFile {
  return { path, text };
}

describe('tidy: each rule can fail', () => {
  it.each([
    ['src/base/a.ts', "import '../raft/b.js';"],
    ['src/raft/a.ts', "import { b } from '../stream/b.js';"],
    ['src/stream/a.ts', "import { b } from '../raft/b.js';"],
    ['src/mirror/a.ts', "import type { Role } from '../raft/types.js';"],
    ['src/replica/a.ts', "import type { Plan } from '../scenario/types.js';"],
    ['src/election/a.ts', "import { Raft } from '../raft/raft.js';"],
    ['src/election/a.ts', "import { type Role } from '../raft/types.js';"],
    ['src/election/a.ts', "export { Raft } from '../raft/raft.js';"],
    ['src/origin/a.ts', "import { play } from '../scenario/play.js';"],
    ['src/scenario/a.ts', "import type { b } from '../threads/b.js';"],
    ['src/verdict/a.ts', "const b = await import('../threads/b.js');"],
    ['src/verdict/a.ts', "type B = import('../threads/b.js').B;"],
    ['src/report/a.ts', "import { judge } from '../verdict/judge.js';"],
    ['src/threads/a.ts', "import '../sim/b.js';"],
    ['src/sim/a.ts', "import type { B } from '../nats/b.js';"],
    ['src/nats/a.ts', "import '../threads/b.js';"],
    ['src/threads/a.ts', "import '../../workers/b.js';"],
    ['workers/a.ts', "import './b.js';"],
    ['src/threads/a.ts', "import '../index.js';"],
    ['src/threads/a.ts', "import '../../test/threads/stage.js';"],
    ['src/cli/a.ts', "import '../vitest/b.js';"],
    ['src/undrawn/a.ts', "import '../base/b.js';"],
    ['src/cli/a.ts', "import { connect } from 'nats';"],
    ['src/origin/a.ts', "import { jetstream } from '@nats-io/jetstream';"],
    ['src/cli/a.ts', "import { it } from 'vitest';"],
  ])('arrows: refused: %s: %s', (path, text) => {
    expect(arrowFaults(at(path, text))).toHaveLength(1);
  });

  it.each([
    ['src/raft/a.ts', "import './b.js'; import '../base/b.js';"],
    ['src/election/a.ts', "import type { Role } from '../raft/types.js';"],
    ['src/origin/a.ts', "import type { Plan } from '../scenario/types.js';"],
    ['src/nats/a.ts', "import { connect } from 'nats'; import '../verdict/b.js';"],
    ['src/vitest/a.ts', "import { it } from 'vitest'; import '../threads/b.js';"],
    ['workers/a.ts', "import '../src/threads/b.js';"],
    ['src/threads/a.ts', "new URL('../../workers/b.js', import.meta.url);"],
  ])('arrows: allowed: %s: %s', (path, text) => {
    expect(arrowFaults(at(path, text))).toEqual([]);
  });

  it('arrows: a test that imports a worker', () => {
    const file = at('test/threads/a.test.ts', "import '../../workers/b.js';");
    expect(workerFaults(file)).toHaveLength(1);
    expect(workerFaults(at('test/a.test.ts', "import './workers/b.js';"))).toEqual([]);
  });

  it('arrows: a package that is not installed with the product', () => {
    const file = at('src/a/b.ts', "import 'yaml/x'; import '@a/b'; import 'node:fs'; import 'fs';");
    expect(packageFaults(file, ['yaml', '@a/b'])).toEqual([]);
    expect(packageFaults(file, ['yaml'])).toEqual([
      'src/a/b.ts: @a/b is no dependency of package.json',
    ]);
    expect(isBuiltin('yaml')).toBe(false);
  });

  it('arrows: entries are the sources behind package.json', () => {
    const exports = {
      '.': { types: './dist/src/index.d.ts', default: './dist/src/index.js' },
      './vitest': { default: './dist/src/vitest/index.js' },
    };
    expect(entriesOf({ bin: { lockstep: 'dist/src/cli/main.js' }, exports })).toEqual([
      'src/cli/main.ts',
      'src/index.ts',
      'src/vitest/index.ts',
    ]);
  });

  it('arrows: a file that nobody imports', () => {
    const files = [
      at('src/a/b.ts', "import './c.js';"),
      at('src/a/c.ts', ''),
      at('src/a/d.ts', ''),
      at('src/a/e.d.ts', ''),
      at('workers/f.ts', ''),
    ];
    expect(orphans(files, ['src/a/b.ts'])).toEqual(['src/a/d.ts']);
  });

  const impure = [
    'Date.now();',
    'const now = performance.now;',
    'Math.random();',
    'setTimeout(() => 1, 1);',
    'setInterval(f);',
    'setImmediate(f);',
    'queueMicrotask(f);',
    'async function a() {}',
    'const a = async () => 1;',
    'for await (const a of b) c(a);',
    'const a: Promise<number> = b;',
    "import 'node:fs';",
    "import 'fs';",
    "import { z } from 'zod';",
    'process.exit();',
    'const a = { process };',
    'console.log(1);',
    'crypto.getRandomValues(a);',
    'globalThis.a();',
  ];
  it.each(impure)('purity: refused: %s', (text) => {
    for (const folder of ['base', 'raft', 'stream', 'mirror', 'election', 'replica', 'origin']) {
      expect(purityFaults(at(`src/${folder}/a.ts`, text)), folder).toHaveLength(1);
    }
    expect(purityFaults(at('src/threads/a.ts', text))).toEqual([]);
    expect(purityFaults(at('src/base/hasher.ts', text))).toEqual([]);
  });

  it.each([
    'interface A { process(): void; readonly Date: number }',
    'const b = a.process({ console: 1 });',
    'const { process: b } = a;',
    '/** A Promise, a Date. */ const a = "setTimeout";',
    'Math.floor(1);',
  ])('purity: allowed: %s', (text) => {
    expect(purityFaults(at('src/raft/a.ts', text))).toEqual([]);
  });

  it.each([
    'Math.log(2);',
    'Math.log2(2);',
    'Math.exp(1);',
    'Math.pow(2, 2);',
    'Math.sin(1);',
    'Math.cos(1);',
    'Math.tan(1);',
    'Math.atan2(1, 1);',
    'const a = 2 ** 3;',
    'a **= 2;',
    'const { log } = Math;',
    "Math['log'](1);",
  ])('purity: a seed would not repeat: %s', (text) => {
    expect(seedFaults(at('src/sim/a.ts', text))).toHaveLength(1);
    expect(seedFaults(at('src/raft/a.ts', text))).toHaveLength(1);
    expect(seedFaults(at('src/report/a.ts', text))).toEqual([]);
  });

  it('purity: a seed repeats what is exact', () => {
    expect(seedFaults(at('src/sim/a.ts', 'Math.floor(Math.max(1, Math.imul(2, 3)));'))).toEqual([]);
  });

  it('shape: a line of 101 columns, not one of 100', () => {
    expect(textFaults(at('src/a/b.ts', 'x'.repeat(101)))).toEqual(['src/a/b.ts:1: 101 columns']);
    expect(textFaults(at('src/a/b.ts', 'x'.repeat(100)))).toEqual([]);
    expect(textFaults(at('src/a/b.ts', '𝑥'.repeat(100)))).toEqual([]);
    expect(textFaults(at('test/a/b.ts', 'x'.repeat(120)))).toEqual([]);
    expect(textFaults(at('test/a/b.ts', 'x'.repeat(121)))).toHaveLength(1);
  });

  it('shape: a leftover', () => {
    for (const word of ['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX', 'HA' + 'CK']) {
      expect(textFaults(at('src/a/b.ts', `\n// ${word}: later`))).toEqual([
        'src/a/b.ts:2: a leftover',
      ]);
    }
  });

  it.each(['utils', 'string-util', 'helpers', 'common', 'managers'])(
    'shape: a drawer: %s',
    (name) => {
      expect(textFaults(at(`src/a/${name}.ts`, ''))).toHaveLength(1);
      expect(textFaults(at(`src/${name}/a.ts`, ''))).toHaveLength(1);
      expect(textFaults(at(`src/a/un${name}ly.ts`, ''))).toEqual([]);
    },
  );

  it('shape: a file of 401 lines, not one of 400', () => {
    const lines = (count: number): string => `/** A. */\n${'a();\n'.repeat(count - 1)}`;
    expect(shapeFaults(at('src/a/b.ts', lines(401)))).toEqual(['src/a/b.ts: 401 lines']);
    expect(shapeFaults(at('src/a/b.ts', lines(400)))).toEqual([]);
  });

  it('shape: a function of 71 lines, not one of 70; methods and arrows too', () => {
    const body = (lines: number): string => `{\n${'  a();\n'.repeat(lines - 2)}}`;
    for (const head of ['function f() ', 'const f = () => ', 'class A { f() ']) {
      const tail = head.startsWith('class') ? ' }' : '';
      const file = (lines: number): SourceFile =>
        at('src/a/b.ts', `/** A. */\n${head}${body(lines)}${tail}`);
      expect(shapeFaults(file(71)), head).toEqual(['src/a/b.ts:2: a function of 71 lines']);
      expect(shapeFaults(file(70)), head).toEqual([]);
    }
  });

  it('shape: a file that does not say what it is for', () => {
    expect(shapeFaults(at('src/a/b.ts', "import './c.js';"))).toHaveLength(1);
    expect(shapeFaults(at('src/a/b.ts', '#!/usr/bin/env node\n/** A. */'))).toEqual([]);
  });
});
