import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { RunSummary } from '../../src/verdict/types.js';
import { bodyOf, encodeEvent, type RunEventBody } from '../../src/verdict/events.js';

const SUMMARY: RunSummary = {
  schema: 1,
  verdict: 'held',
  driver: 'sim',
  seed: 3,
  elapsedMs: 9,
  origin: { first: 1, last: 1, messages: 1, deleted: 0, sentinel: 1, tailGap: null },
  replicas: [],
  messages: { ok: 1, lost: 0, duplicated: 0, reordered: 0, corrupt: 0, phantom: 0, unknown: 0 },
  skip: { encoding: 'range', sequences: 0, batches: 0, largestBatch: 0, refused: 0 },
  leadership: { elections: 1, lastTerm: 1 },
  mirror: { openings: 1, rollbacks: 0, retries: 0 },
  faults: [],
  stallMs: 0,
  reasons: [],
  rate: { messagesPerSecond: 2, sequencesPerSecond: 2 },
  replay: 'lockstep replay',
};
const SUMMARY_TEXT =
  '{"driver":"sim","elapsedMs":9,"faults":[],"leadership":{"elections":1,"lastTerm":1},' +
  '"messages":{"corrupt":0,"duplicated":0,"lost":0,"ok":1,"phantom":0,"reordered":0,"unknown":0},' +
  '"mirror":{"openings":1,"retries":0,"rollbacks":0},"origin":{"deleted":0,"first":1,"last":1,' +
  '"messages":1,"sentinel":1,"tailGap":null},"rate":{"messagesPerSecond":2,' +
  '"sequencesPerSecond":2},"reasons":[],"replay":"lockstep replay","replicas":[],"schema":1,"seed":3,' +
  '"skip":{"batches":0,"encoding":"range","largestBatch":0,"refused":0,"sequences":0},' +
  '"stallMs":0,"verdict":"held"}';

test.each<readonly [name: string, body: RunEventBody, line: string]>([
  ['nothing beside the kind', { kind: 'handedOut' }, '{"schema":1,"at":12.5,"kind":"handedOut"}'],
  [
    '64-bit values -> decimal strings, keys by name',
    {
      slot: 'r1',
      kind: 'apply',
      index: 3,
      term: 1,
      count: 2,
      stored: 2,
      skipped: 0,
      seen: 0,
      mismatched: 0,
      last: 9,
      hash: 18_446_744_073_709_551_615n,
    },
    '{"schema":1,"at":12.5,"kind":"apply","count":2,"hash":"18446744073709551615","index":3,' +
      '"last":9,"mismatched":0,"seen":0,"skipped":0,"slot":"r1","stored":2,"term":1}',
  ],
  [
    'nested objects, null and text that must be escaped',
    {
      kind: 'op',
      target: null,
      op: 'campaign',
      outcome: 'failed',
      error: { message: 'a "b"\n', code: 'timeout', detail: { z: 1, a: null } },
    },
    '{"schema":1,"at":12.5,"kind":"op","error":{"code":"timeout","detail":{"a":null,"z":1},' +
      '"message":"a \\"b\\"\\n"},"op":"campaign","outcome":"failed","target":null}',
  ],
  [
    'lists keep their order, absent fields are left out',
    {
      kind: 'summary',
      reasons: [
        { verdict: 'violated', text: 'b' },
        { verdict: 'stalled', text: 'a' },
      ],
      summary: SUMMARY,
    },
    '{"schema":1,"at":12.5,"kind":"summary","reasons":[{"text":"b","verdict":"violated"},' +
      `{"text":"a","verdict":"stalled"}],"summary":${SUMMARY_TEXT}}`,
  ],
])('events: encode: %s', (_name, body, line) => {
  expect(encodeEvent(12.5, body)).toBe(line);
  expect(JSON.parse(line)).toMatchObject({ schema: 1, at: 12.5, kind: body.kind });
});

test('events: of a driver -> flat, the time apart, the kind of a fault added', () => {
  const faults = new Map([['sd', 'stepDown' as const]]);
  const commit = { kind: 'commit', index: 4, term: 2 } as const;
  const fault = { kind: 'fault', slot: 'r2', state: 'installed', atMs: 7 } as const;
  expect([
    bodyOf({ kind: 'replica', slot: 'r1', atMs: 5, event: commit }, faults),
    bodyOf({ ...fault, id: 'sd' }, faults),
    bodyOf({ ...fault, id: 'other' }, faults),
    bodyOf({ kind: 'late', who: 'r1', atMs: 8, byMs: 120 }, faults),
  ]).toEqual([
    { kind: 'commit', index: 4, term: 2, slot: 'r1' },
    { kind: 'fault', id: 'sd', fault: 'stepDown', slot: 'r2', state: 'installed' },
    null,
    { kind: 'late', who: 'r1', byMs: 120 },
  ]);
});

/** Every kind of event; the compiler rejects a list that misses one or names another. */
const KINDS: Readonly<Record<RunEventBody['kind'], true>> = {
  apply: true,
  commit: true,
  condition: true,
  config: true,
  coverage: true,
  exit: true,
  fault: true,
  firstDelivery: true,
  handedOut: true,
  note: true,
  harness: true,
  late: true,
  op: true,
  opening: true,
  progress: true,
  propose: true,
  retry: true,
  role: true,
  rollback: true,
  run: true,
  summary: true,
  transfer: true,
  violation: true,
};

test('events: docs/events.md -> a section for every kind and for no other', () => {
  const text = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8');
  const documented = [...text.matchAll(/^### `(\w+)`$/gm)].map(([, kind]) => kind);
  expect(documented.sort()).toEqual(Object.keys(KINDS).sort());
});
