import { describe, expect, it } from 'vitest';
import { faultLine, originLine } from '../../src/scenario/lines.js';
import { FAULT_KEYS, FAULT_KINDS } from '../../src/scenario/schema.js';
import { NO_FILES, planOf, refused, refusedPlan } from './stage.js';
import { parseScenario } from '../../src/scenario/parse.js';

const PARAMETERS = [...new Set([...FAULT_KINDS, ...FAULT_KEYS])].join(', ');

describe('--fault', () => {
  it.each<[string, string]>([
    [
      'stepDown=leader,when=skipped:10000,within=30s',
      '{ stepDown: leader, when: { skipped: 10000 }, within: 30s }',
    ],
    ['stepDown=r1,to=r2,at=20ms,id=sd', '{ stepDown: r1, to: r2, at: 20ms, id: sd }'],
    ['freeze=leader,id=sd,at=1s,for=600ms', '{ freeze: leader, id: sd, at: 1s, for: 600ms }'],
    [
      'failPropose=leader,times=2,code=writeFailed,when=role:leader',
      '{ failPropose: leader, times: 2, code: writeFailed, when: { role: leader } }',
    ],
    ['kill=follower,at=1s,on=threads+sim', '{ kill: follower, at: 1s, on: [threads, sim] }'],
    ['dropConsumer,when=applied:1e3', '{ dropConsumer: true, when: { applied: 1e3 } }'],
    ['dropConsumer=origin,when=term:2', '{ dropConsumer: origin, when: { term: 2 } }'],
  ])('%s is the fault of a file', (line, yaml) => {
    const text = `version: 1\nname: x\norigin: { synthetic: { messages: 9 } }\nfaults: [${yaml}]`;
    const inFile = parseScenario(text, 'x.yaml', NO_FILES).faults;
    const origin = { synthetic: { messages: 9 } };
    expect(planOf({ origin, faults: [faultLine(line)] }).faults).toEqual(inFile);
  });

  it('relative to another line', () => {
    const lines = ['stepDown=leader,at=1s,id=sd', 'freeze=leader,after=sd,delay=300ms'];
    expect(planOf({ faults: lines.map(faultLine) }).faults[1]!.trigger).toEqual({
      kind: 'after',
      fault: 'sd',
      delayMs: 300,
      settled: false,
    });
  });

  it.each([
    ['stepDow=leader', `"stepDow" is not a known word; did you mean stepDown?`],
    ['kill=leader,att=1s', `"att" is not a known word; did you mean at?`],
    ['kill', '"kill" is not kill=VALUE'],
    ['kill=leader,kill=r1', '"kill" is not given once only'],
    ['kill=leader,,at=1s', `"" is not a known word (${PARAMETERS})`],
    ['__proto__=1', `"__proto__" is not a known word (${PARAMETERS})`],
    ['kill=lea\nder', '"kill=lea\\u{a}der" is not text in one line'],
  ])('refused: %j', (line, message) => {
    expect(refused(() => faultLine(line))).toBe(`--fault: ${message}`);
  });

  it.each(['skipped', 'skipped:1:2'])('refused: a state without its value: %s', (state) => {
    expect(refused(() => faultLine(`kill=leader,when=${state}`))).toBe(
      `--fault when: "${state}" is not STATE:VALUE, such as skipped:10000`,
    );
  });

  it.each([
    ['', `: "no kind of fault" is not exactly one of ${FAULT_KINDS.join(', ')}`],
    ['dropConsumer=r1,at=1s', '.dropConsumer: "r1" is not true or origin'],
    ['kill=leader,when=skiped:1', '.when: "skiped" is not a known key; did you mean skipped?'],
    ['kill=leader,at=1s,on=', '.on[0]: "" is not one of threads, sim, nats'],
  ])('refused by the schema: %j', (line, message) => {
    expect(refusedPlan({ faults: [faultLine(line)] })).toBe(`test: faults[0]${message}`);
  });
});

const SOURCES = 'synthetic:…, nats-gaps:… or nats://HOST:PORT/STREAM';

describe('--origin', () => {
  it('synthetic: every field, gaps in order', () => {
    const source = 'synthetic:messages=1e6,size=1KiB,gap=40000+25000,rate=40_000,gap=50000+1';
    expect(planOf({ origin: originLine(source) }).origin).toEqual({
      kind: 'synthetic',
      messages: 1_000_000,
      size: 1_024,
      rate: 40_000,
      gaps: [
        { after: 40_000, count: 25_000 },
        { after: 50_000, count: 1 },
      ],
    });
    expect(planOf({ origin: originLine('synthetic:messages=5') }).origin).toEqual({
      kind: 'synthetic',
      messages: 5,
      size: 128,
      rate: null,
      gaps: [],
    });
  });

  it('nats-gaps: the raw data of a file', () => {
    expect(originLine('nats-gaps:C:/a.json,info=b.json,size=64,rate=5')).toEqual({
      natsGaps: { file: 'C:/a.json', info: 'b.json', size: '64', rate: '5' },
    });
  });

  it.each([
    ['synthetic', '--origin: "" is not given with messages=N'],
    ['synthetic:size=1', '--origin: "size=1" is not given with messages=N'],
    ['synthetic:mesages=1', '--origin: "mesages" is not a known word; did you mean messages?'],
    ['synthetic:messages=1,messages=2', '--origin: "messages" is not given once only'],
    ['synthetic:messages=9,gap=4', '--origin gap: "4" is not AFTER+COUNT, such as 40000+25000'],
    [
      'synthetic:messages=9,gap=1+2+3',
      '--origin gap: "1+2+3" is not AFTER+COUNT, such as 40000+25000',
    ],
    [
      'synthetc:messages=1',
      `--origin: "synthetc:messages=1" is not ${SOURCES}; did you mean synthetic?`,
    ],
    ['', `--origin: "" is not ${SOURCES}`],
    [
      'nats-gaps:a.json',
      '--origin nats-gaps: FILE,info=FILE is required: gaps tell neither first nor last',
    ],
    [
      'nats-gaps:,info=a',
      '--origin nats-gaps: FILE,info=FILE is required: gaps tell neither first nor last',
    ],
    ['nats-gaps:a,inf=b', '--origin: "inf" is not a known word; did you mean info?'],
  ])('refused: %j', (source, message) => {
    expect(refused(() => originLine(source))).toBe(message);
  });

  it('a count that is none is refused with its path', () => {
    expect(refusedPlan({ origin: originLine('synthetic:messages=many') })).toBe(
      'test: origin.synthetic.messages: "many" is not a whole number from 1 to 1000000000',
    );
  });
});
