import { describe, expect, it } from 'vitest';
import { scenarioJsonSchema } from '../../src/scenario/schema.js';

interface Part {
  readonly type?: string;
  readonly description?: string;
  readonly additionalProperties?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Part>>;
  readonly items?: Part;
  readonly anyOf?: readonly Part[];
  readonly enum?: readonly unknown[];
}

const schema = scenarioJsonSchema() as Part & { readonly $schema: string };

function* mappings(part: Part, path: string): Iterable<[string, Part]> {
  if (part.properties !== undefined) yield [path, part];
  for (const [key, inner] of Object.entries(part.properties ?? {})) {
    yield* mappings(inner, `${path}.${key}`);
  }
  if (part.items !== undefined) yield* mappings(part.items, `${path}[]`);
  for (const inner of part.anyOf ?? []) yield* mappings(inner, path);
}

describe('schema: for editors', () => {
  it('what must be there, at the root', () => {
    expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
    expect(schema.required).toEqual(['version', 'name', 'origin']);
  });

  it('no mapping takes keys that are not known', () => {
    const all = [...mappings(schema, '')];
    expect(all.map(([path]) => path)).toEqual([
      '',
      '.origin',
      '.origin.synthetic',
      '.origin.synthetic.gaps[]',
      '.origin.natsGaps',
      '.origin.nats',
      '.origin.module',
      '.mirror',
      '.faults[]',
      '.faults[].when',
      '.faults[].when.appended',
      '.expect',
      '.expect.stallAtMost',
      '.expect.state',
    ]);
    expect(all.filter(([, part]) => part.additionalProperties !== false)).toEqual([]);
  });

  it('every field of a fault says what it is, or lists its words', () => {
    const { properties } = schema.properties!['faults']!.items!;
    const silent = Object.entries(properties!).filter(([, part]) => part.description === undefined);
    expect(silent.map(([name]) => name)).toEqual([]);
  });
});
