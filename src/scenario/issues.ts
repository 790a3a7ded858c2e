/** What the schema found wrong -> one line: path, value, what was expected, and what was meant. */
import type * as z from 'zod';
import { LockstepError } from '../base/errors.js';
import { plain } from '../base/plain.js';
import { scenarioSchema } from './schema.js';
import { nearest, refusal } from './words.js';

type Issue = z.core.$ZodIssue;

const TYPES: Readonly<Record<string, string>> = {
  object: 'a mapping',
  array: 'a list',
  string: 'text',
  number: 'a number',
  boolean: 'true or false',
};

/** The first issue; a key that is not known goes before what is missing because of it. */
export function issueError(
  issues: readonly Issue[],
  raw: unknown,
  schema: z.core.$ZodType = scenarioSchema,
): LockstepError {
  const flat = issues.map(innermost);
  const issue = flat.find(({ code }) => code === 'unrecognized_keys') ?? flat[0]!;
  const path = pathText(issue.path);
  if (issue.code !== 'unrecognized_keys') {
    const found = issue.path.reduce(memberOf, raw);
    return refusal(path, found, expectation(issue, found));
  }
  const [key = ''] = issue.keys;
  const expected = `a known key${nearest(key, knownKeys(schema, issue.path))}`;
  const { message } = refusal(path, key, expected);
  const where = path === '' ? plain(key) : `${path}.${plain(key)}`;
  return new LockstepError('usage', message, { where, expected });
}

/** Of a union, the branch that was meant: the one whose own shape fits and something in it not. */
function innermost(issue: Issue): Issue {
  if (issue.code !== 'invalid_union') return issue;
  const [meant] = issue.errors.find(([first]) => first !== undefined && !isOfType(first)) ?? [];
  return meant === undefined ? issue : { ...meant, path: [...issue.path, ...meant.path] };
}

/** Whether the value as a whole is of another type, or another word. */
function isOfType({ code, path }: Issue): boolean {
  return path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');
}

function expectation(issue: Issue, found: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return ownText(issue) ?? TYPES[issue.expected] ?? `a ${issue.expected}`;
    case 'invalid_value': {
      const words = issue.values.map(String);
      const [only] = issue.values;
      if (typeof only === 'number' && found === String(only))
        return `the number ${only}: no quotes`;
      const meant = typeof found === 'string' ? nearest(found, words) : '';
      return `${words.length > 1 ? 'one of ' : ''}${words.join(', ')}${meant}`;
    }
    case 'invalid_union':
      return ownText(issue) ?? branches(issue.errors, found).join(' or ');
    case 'too_small':
      if (issue.origin === 'number') return issue.message;
      return issue.origin === 'array' ? 'a list of at least one' : 'text of at least one letter';
    case 'too_big':
      return issue.message;
    case 'invalid_format':
      return issue.message.startsWith('Invalid') ? 'text in one line' : issue.message;
    default:
      return `what belongs there (${plain(issue.message)})`;
  }
}

/** What the schema says itself where a type alone would say too little. */
function ownText({ message }: Issue): string | null {
  return message.startsWith('Invalid input') ? null : message;
}

function branches(errors: readonly (readonly Issue[])[], found: unknown): string[] {
  return errors.flatMap(([first]) => (first === undefined ? [] : [expectation(first, found)]));
}

function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}

function memberOf(value: unknown, part: PropertyKey): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.hasOwn(value, part) ? (value as Record<PropertyKey, unknown>)[part] : undefined;
}

/** What a schema may consist of, as far as it is walked here. */
interface SchemaPart {
  readonly shape?: Readonly<Record<PropertyKey, SchemaPart>>;
  readonly element?: SchemaPart;
  readonly options?: readonly SchemaPart[];
  unwrap?(): SchemaPart;
}

function ownPart(shape: SchemaPart['shape'], step: PropertyKey): SchemaPart | undefined {
  return shape !== undefined && Object.hasOwn(shape, step) ? shape[step] : undefined;
}

/** Keys that a schema knows at a path. */
function knownKeys(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  let part: SchemaPart | undefined = schema as unknown as SchemaPart;
  for (const step of path) {
    part = typeof step === 'number' ? part?.element : ownPart(part?.shape, step);
    // Of an optional part the inside; of a union the mapping. A list unwraps to its elements too.
    while (part?.unwrap !== undefined && part.element === undefined) part = part.unwrap();
    part = part?.options?.find(({ shape }) => shape !== undefined) ?? part;
  }
  return Object.keys(part?.shape ?? {});
}
