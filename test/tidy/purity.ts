/** What pure code may not touch, and what a seed must not depend on. */
import ts from 'typescript';
import { folderOf, importsOf, parse, placeOf, visit, type SourceFile } from './source.js';

const PURE = ['base', 'raft', 'stream', 'mirror', 'election', 'replica', 'origin'];
/** Loading WebAssembly is asynchronous; this file holds it so that nothing else has to be. */
const EXCEPT = 'src/base/hasher.ts';
/** Folders whose results a seed repeats on every engine. */
const SEEDED = [...PURE, 'sim'];

const BANNED: ReadonlyMap<string, string> = new Map([
  ['Date', 'a tick or a time given as an argument'],
  ['performance', 'a time given as an argument'],
  ['setTimeout', 'tick()'],
  ['setInterval', 'tick()'],
  ['setImmediate', 'tick()'],
  ['queueMicrotask', 'a synchronous call'],
  ['Promise', 'a synchronous call and a completion as an input'],
  ['process', 'an option'],
  ['console', 'an event'],
  ['crypto', 'a Prng'],
  ['fetch', 'an input'],
  ['globalThis', 'an argument'],
]);

/** ECMA-262 leaves the last digits of these to the engine. */
const APPROXIMATE = /^(a?(sin|cos|tan)h?|atan2|exp|expm1|log|log1p|log10|log2|pow|cbrt|hypot)$/;

/** Clocks, randomness, timers, promises, IO and packages in folders that must be pure. */
export function purityFaults(file: SourceFile): string[] {
  if (!PURE.includes(folderOf(file.path)) || file.path === EXCEPT) return [];
  const faults = importsOf(file)
    .filter(({ from }) => !from.startsWith('.'))
    .map(({ from }) => `${file.path}: imports ${from}`);
  visit(parse(file), (node) => {
    const fault = impurityOf(node);
    if (fault !== null) faults.push(`${placeOf(file, node)}: ${fault}`);
  });
  return faults;
}

function impurityOf(node: ts.Node): string | null {
  const { AsyncKeyword, AwaitKeyword } = ts.SyntaxKind;
  // The keyword alone stands in `for await`.
  if (ts.isAwaitExpression(node) || node.kind === AsyncKeyword || node.kind === AwaitKeyword) {
    return 'async code is banned, use a completion as an input';
  }
  if (mathOf(node) === 'random') return 'Math.random is banned, use a Prng';
  if (!ts.isIdentifier(node) || isMemberName(node)) return null;
  const instead = BANNED.get(node.text);
  return instead === undefined ? null : `${node.text} is banned, use ${instead}`;
}

/** Arithmetic whose last digits differ between engines, where a seed must repeat. */
export function seedFaults(file: SourceFile): string[] {
  if (!SEEDED.includes(folderOf(file.path))) return [];
  const faults: string[] = [];
  visit(parse(file), (node) => {
    const fault = driftOf(node);
    if (fault !== null) faults.push(`${placeOf(file, node)}: ${fault}`);
  });
  return faults;
}

function driftOf(node: ts.Node): string | null {
  const { AsteriskAsteriskToken, AsteriskAsteriskEqualsToken } = ts.SyntaxKind;
  if (node.kind === AsteriskAsteriskToken || node.kind === AsteriskAsteriskEqualsToken) {
    return '** is banned, multiply or shift';
  }
  const member = mathOf(node);
  if (member === '') return 'Math is only read as Math.name';
  if (member === null || !APPROXIMATE.test(member)) return null;
  return `Math.${member} is banned, engines differ in it`;
}

/** The member that a use of Math reads; empty when it cannot be told, null for all else. */
function mathOf(node: ts.Node): string | null {
  if (!ts.isIdentifier(node) || node.text !== 'Math' || isMemberName(node)) return null;
  const { parent } = node;
  return ts.isPropertyAccessExpression(parent) ? parent.name.text : '';
}

/** Whether an identifier only names a member of something: `a.process`, `{ process: 1 }`. */
function isMemberName(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isBindingElement(parent)) return parent.propertyName === node;
  return (
    (ts.isPropertyAccessExpression(parent) ||
      ts.isPropertyAssignment(parent) ||
      ts.isPropertySignature(parent) ||
      ts.isPropertyDeclaration(parent) ||
      ts.isMethodSignature(parent) ||
      ts.isMethodDeclaration(parent)) &&
    parent.name === node
  );
}
