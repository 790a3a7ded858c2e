import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);
const EXAMPLE = /## As a library\n\n```ts\n(.*?)```/s;

describe('readme', () => {
  it('the library example runs as it stands and holds', async () => {
    const readme = readFileSync('README.md', 'utf8');
    const example = EXAMPLE.exec(readme)?.[1];
    expect(example).toBeDefined();
    // Inside dist, so that the package's own name resolves to the build.
    const dir = mkdtempSync(join('dist', 'readme-'));
    try {
      const file = join(dir, 'example.mjs');
      writeFileSync(file, example!);
      const { stdout } = await run(process.execPath, [file]);
      expect(stdout).toMatch(/^held \d+(\.\d+)?\n$/);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it('the library example compiles as a user without settings of ours would compile it', () => {
    const example = EXAMPLE.exec(readFileSync('README.md', 'utf8'))![1]!;
    const dir = mkdtempSync(join('dist', 'readme-'));
    try {
      const file = join(dir, 'example.mts');
      writeFileSync(file, example);
      const program = ts.createProgram([file], {
        ...{ strict: true, noEmit: true, skipDefaultLibCheck: true, types: [] },
        ...{ target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext },
      });
      const said = ts.getPreEmitDiagnostics(program).map(({ messageText }) => messageText);
      expect(said).toEqual([]);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it('the first commands that it names are those of the package file', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      scripts: Record<string, string>;
    };
    const readme = readFileSync('README.md', 'utf8');
    const named = [...readme.matchAll(/npm (?:run )?([a-z-]+)/g)].map(([, name]) => name!);
    expect(named.filter((name) => name !== 'ci' && scripts[name] === undefined)).toEqual([]);
  });
});
