import { describe, expect, it } from 'vitest';
import { playReplay } from '../../src/sim/replay.js';
import {
  encodeReplay,
  parseReplay,
  replayFileName,
  type ReplayFile,
} from '../../src/sim/replay-file.js';
import { CALM } from '../../src/sim/conditions.js';
import { drawSwarm, type SwarmPlan } from '../../src/sim/swarm.js';
import { renderLine } from '../../src/sim/transcript.js';
import { hasher } from './stage.js';

const STALLED = { verdict: 'stalled', property: 'catch-up', text: 'not at 21' } as const;

/** The last messages are larger than a mirror can store: it stops before them. */
const PLAN: SwarmPlan = {
  tuning: { preVote: true, checkQuorum: true, limits: { recordBytesMax: 100 } },
  load: { heldBack: 1, burst: null, sizeMax: 90, headersEvery: 1_000 },
  seed: 5,
  replicas: 3,
  election: 'timers',
  skip: 'range',
  timeScale: 0.01,
  origin: { kind: 'synthetic', messages: 200, size: 8, rate: 100, gaps: [{ after: 3, count: 9 }] },
  conditions: CALM,
  faults: [
    { id: 'sd', atMs: 350, target: 'leader', action: { kind: 'stepDown', to: null } },
    { id: 'none', atMs: 351, target: 'leader', action: { kind: 'dropConsumer' } },
  ],
  fates: [
    { link: 'r1 to r2', nth: 2, fate: 'lost', byUs: 0 },
    { link: 'origin to r3', nth: 5, fate: 'overtaken', byUs: 1_500 },
  ],
  safetyMs: 600,
  core: [0, 1, 2],
};

/** As PLAN, with a mirror that can store everything. */
const { tuning: _tuning, ...MENDED } = PLAN;

function fileOf(change: Partial<ReplayFile> = {}): ReplayFile {
  return {
    format: 1,
    lockstep: '0.1.0',
    about: 'a message that no mirror can store',
    expect: 'stalled',
    failure: STALLED,
    shrunk: { from: 9, to: 2, candidates: 40, end: 'minimal' },
    plan: PLAN,
    ...change,
  };
}

describe('sim: replay: file', () => {
  it('what is written is read again as it was', () => {
    expect(parseReplay(encodeReplay(fileOf()), 'a.json')).toEqual(fileOf());
  });

  it('whatever a seed draws can be written and read', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const file = fileOf({ plan: drawSwarm(seed) });
      expect(parseReplay(encodeReplay(file), 'a.json'), `seed ${seed}`).toEqual(file);
    }
  });

  it('is laid out for people: a fault and a fate a line', () => {
    const lines = encodeReplay(fileOf()).split('\n');
    expect(lines.filter((line) => line.length > 100)).toEqual([]);
    expect(lines).toContain('      { "link": "r1 to r2", "nth": 2, "fate": "lost", "byUs": 0 },');
    expect(lines).toContain('    "core": [0, 1, 2]');
  });

  it('its name says property and seed, and is a plain word', () => {
    const failure = { ...STALLED, property: 'mirror: lost / Ü' };
    expect(replayFileName(failure, 17)).toBe('replay-mirror-lost-17.json');
  });

  const plan = (change: Record<string, unknown>): unknown => {
    return { ...fileOf(), plan: { ...PLAN, ...change } };
  };
  const firstFault = (change: Record<string, unknown>): unknown =>
    plan({ faults: [{ ...PLAN.faults[0], ...change }] });
  const action = (kind: Record<string, unknown>): unknown => firstFault({ action: kind });
  const fate = (change: Record<string, unknown>): unknown =>
    plan({ fates: [{ ...PLAN.fates![0], ...change }] });

  it.each([
    [{ ...fileOf(), format: 2 }, 'format: 2 is not 1'],
    [{ ...fileOf(), abouts: '' }, '"abouts" is not a known key; did you mean about?'],
    [{ ...fileOf(), about: 'two\nlines' }, 'about: "two\\u{a}lines" is not text in one line'],
    [
      { ...fileOf(), expect: 'hold' },
      'expect: "hold" is not one of held, violated, stalled, harness, inconclusive, uncovered; ' +
        'did you mean held?',
    ],
    [{ ...fileOf(), plan: undefined }, 'plan: missing, expected a mapping'],
    [[], 'an empty list is not a mapping'],
    [plan({ replicas: 0 }), 'plan.replicas: 0 is not a whole number from 1 to 9'],
    [plan({ replicas: '3' }), 'plan.replicas: "3" is not a whole number from 1 to 9'],
    [plan({ seed: 1.5 }), 'plan.seed: 1.5 is not a whole number from 0 to 2^53-1'],
    [plan({ seeds: 1 }), 'plan: "seeds" is not a known key; did you mean seed?'],
    [plan({ core: [3] }), 'plan.core[0]: 3 is not a position below 3, the number of replicas'],
    [plan({ core: [] }), 'plan.core: [] is not a list of different positions, at least one'],
    [
      plan({ origin: { ...PLAN.origin, gaps: [{ after: 201, count: 1 }] } }),
      'plan.origin.gaps[0].after: 201 is not from 0 to 200',
    ],
    [firstFault({ atMs: -1 }), 'plan.faults[0].atMs: -1 is not milliseconds from 0'],
    [
      firstFault({ target: 7 }),
      'plan.faults[0].target: 7 is not a position below 3, the number of replicas',
    ],
    [action({ kind: 'stepdown' }), 'plan.faults[0].action.kind: "stepdown" is not a kind of fault'],
    [action({ kind: 'freeze', for: 3 }), 'plan.faults[0].action: "for" is not a known key'],
    [
      plan({ faults: [PLAN.faults[1], PLAN.faults[0]] }),
      'plan.faults[1].atMs: 350 is not 351 or later',
    ],
    [
      plan({ faults: [PLAN.faults[0], { ...PLAN.faults[1], id: 'sd' }] }),
      'plan.faults[1].id: "sd" is not used once only',
    ],
    [fate({ link: 'r1' }), 'plan.fates[0].link: "r1" is not a link such as r1 to r2'],
    [fate({ link: 'r1 to r4' }), 'plan.fates[0].link: "r1 to r4" is not between members of 3'],
    [fate({ nth: 0 }), 'plan.fates[0].nth: 0 is not a whole number from 1 to 2^53-1'],
  ])('refused: %#', (file, text) => {
    expect(() => parseReplay(JSON.stringify(file), 'a.json')).toThrow(`a.json: ${text}`);
  });

  it('refused: no JSON', () => {
    expect(() => parseReplay('{', 'a.json')).toThrow(
      /^a\.json: is no replay file, which is JSON \(.*\); lockstep run plays scenarios$/,
    );
  });
});

describe('sim: replay: play', () => {
  it('comes to what the file says, and says so', async () => {
    const { summary } = await playReplay(fileOf(), hasher);
    expect(summary).toMatchObject({
      schema: 1,
      verdict: 'stalled',
      seed: 5,
      expected: 'stalled',
      asExpected: true,
      scripted: 4,
      until: null,
    });
    expect(summary.failure).toMatchObject({ verdict: 'stalled', property: 'catch-up' });
  });

  it('another property than that of the file is not as expected; nor is held', async () => {
    const failure = { ...STALLED, property: 'one consumer' };
    const other = await playReplay(fileOf({ failure }), hasher);
    expect(other.summary).toMatchObject({ verdict: 'stalled', asExpected: false });
    const held = await playReplay(fileOf({ plan: MENDED }), hasher);
    expect(held.summary).toMatchObject({ verdict: 'held', failure: null, asExpected: false });
    const known = await playReplay(fileOf({ plan: MENDED, expect: 'held' }), hasher);
    expect(known.summary).toMatchObject({ verdict: 'held', asExpected: true });
  });

  it.each(['sd', 'r1 to r2 #2', '12'])('until %s: ends before it, and says so', async (until) => {
    const whole = await playReplay(fileOf(), hasher);
    const { summary, lines, events } = await playReplay(fileOf(), hasher, until);
    expect(summary).toMatchObject({ verdict: 'inconclusive', until, events: events.length });
    expect(lines).toEqual(whole.lines.slice(0, lines.length));
    expect(events).toEqual(whole.events.slice(0, events.length));
    const next = whole.lines[lines.length]!;
    if (until === '12') {
      expect(events).toHaveLength(11);
      expect(next.event).toBeGreaterThanOrEqual(11);
    } else {
      expect(next.id).toBe(until);
    }
  });

  it('until an event that never happens is refused, with those that do', async () => {
    await expect(playReplay(fileOf(), hasher, 'x')).rejects.toThrow(
      /^--until: "x" is not an event of this run: 1 to \d+, or one of sd, none, r1 to r2 #2$/,
    );
    await expect(playReplay(fileOf(), hasher, '0')).rejects.toThrow('"0" is not an event');
  });

  it('the conversation: roles, messages, entries, frames, faults, and what was lost', async () => {
    const { lines } = await playReplay(fileOf({ plan: MENDED }), hasher);
    const text = lines.map(renderLine).map((line) => line.slice(12));
    const has = (pattern: RegExp): void => {
      expect(text.filter((line) => pattern.test(line)).length, String(pattern)).toBeGreaterThan(0);
    };
    has(/^r\d {2}leader, term 1 \(won\)$/);
    has(/^r\d -> r\d {2}vote request, term 1, last 0\/0$/);
    has(/^r\d -> r\d {2}append, term 1, after 0\/0: 1\/1 noop; commit 0$/);
    has(/^r\d -> r\d {2}append, term 1, .*: \d\/1 of 1 command; commit \d$/);
    has(/^r\d -> origin {2}open 1\.1 at 1$/);
    has(/^origin -> r\d {2}delivery 1 of 1\.1: messages 1$/);
    has(/^r\d {2}proposes range 4\.\.12 as 1 command$/);
    has(/^r\d {2}applies \d+\/1: 9 skipped, last 12$/);
    has(/^message r1 to r2 #2 is lost$/);
    has(/^fault sd, stepDown \(to null\) at r\d: installed$/);
    has(/^fault none, dropConsumer( at r\d)?: (installed|skipped, .+)$/);
    // Signs of life that say nothing new are not told again.
    expect(text.filter((line) => line.includes('heartbeat heard')).length).toBeLessThan(20);
    const times = lines.map(({ atMs }) => atMs);
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });
});
