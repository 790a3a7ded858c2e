/**
 * The text of a scenario, read but not understood: data of unknown shape, and the line on which
 * each part of it was written, so that what is refused later can be found.
 */
import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Document,
} from 'yaml';
import { LockstepError } from '../base/errors.js';
import { plain } from '../base/plain.js';

/**
 * Reads a file that a scenario or a flag names; throws what the file system throws. Whoever knows
 * what kind of file it is says how large it may be.
 */
export type ReadFile = (path: string, bytesMax?: number) => string;

/** A path of the scenario, `faults[0].for` -> where that was written, such as `chaos.yaml:7`. */
export type Where = (path: string) => string;

export interface ScenarioSource {
  readonly raw: unknown;
  readonly where: Where;
}

/**
 * The text of a file that a user names, in any command: what keeps it from being read is said in
 * the same words everywhere. Errors: usage.
 *
 * @param where  what names the file: `scenario`, `--config`
 */
export function readText(
  where: string,
  path: string,
  readFile: ReadFile,
  bytesMax?: number,
): string {
  if (path === '') throw new LockstepError('usage', `${where}: no file is named`, { where });
  try {
    return readFile(path, bytesMax);
  } catch (error) {
    const { code } = error as { code?: unknown };
    const why = code === 'ENOENT' ? 'no such file' : `cannot be read (${reasonOf(error)})`;
    throw new LockstepError('usage', `${where}: ${plain(path)}: ${why}`, { where });
  }
}

/** YAML, or JSON, which is YAML. `name` is the file's. Errors: usage, when it is not. */
export function parseSource(text: string, name: string): ScenarioSource {
  const counter = new LineCounter();
  const options = { lineCounter: counter, prettyErrors: false, logLevel: 'error' } as const;
  try {
    const document = parseDocument(text, options);
    const [fault] = document.errors;
    if (fault !== undefined) {
      const { line } = counter.linePos(fault.pos[0]);
      const why = fault.code === 'MULTIPLE_DOCS' ? 'a second document' : depthText(fault.message);
      throw new LockstepError('usage', `${name}:${line}: not YAML of a scenario: ${plain(why)}`);
    }
    const where: Where = (path) => {
      const offset = offsetOf(document, path);
      return offset === null ? name : `${name}:${counter.linePos(offset).line}`;
    };
    return { raw: document.toJS(), where };
  } catch (error) {
    if (error instanceof LockstepError) throw error;
    throw new LockstepError('usage', `${name}: not YAML of a scenario: ${reasonOf(error)}`);
  }
}

/** Where the part at a path begins, or the innermost part around it that exists. */
function offsetOf(document: Document, path: string): number | null {
  let node: unknown = document.contents;
  let offset: number | null = null;
  for (const part of path.match(/[^.[\]]+/g) ?? []) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === part);
      if (pair === undefined) break;
      if (isNode(pair.key) && pair.key.range) [offset] = pair.key.range;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(part)];
      if (!isNode(node)) break;
      if (node.range) [offset] = node.range;
    } else break;
  }
  return offset;
}

function reasonOf(error: unknown): string {
  return plain(depthText(error instanceof Error ? error.message : String(error)));
}

/** A parser that calls itself says only that it ran out of stack. */
function depthText(message: string): string {
  return message.startsWith('Maximum call stack') ? 'nested too deeply' : message;
}
