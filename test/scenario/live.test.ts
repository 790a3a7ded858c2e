import { describe, expect, it } from 'vitest';
import { originCredentials, originLine } from '../../src/scenario/lines.js';
import { planOf, refused, refusedPlan } from './stage.js';

const NATS = { url: 'nats://h', stream: 'ORDERS' };

describe('live origin: as planned', () => {
  it('a scenario: every key', () => {
    const files = { creds: '/c', nkey: '/n', tlsCert: '/t', tlsKey: '/k', tlsCa: '/a' };
    const words = { context: 'prod', jsDomain: 'hub', jsApiPrefix: 'X', inboxPrefix: 'Y' };
    const nats = { ...NATS, ...files, ...words, tlsFirst: true, timeout: '2s' };
    expect(planOf({ origin: { nats } }).origin).toEqual({
      ...{ kind: 'nats', stream: 'ORDERS', rate: null },
      connection: {
        ...{ ...files, ...words, tlsFirst: true, timeoutMs: 2_000 },
        servers: ['nats://h:4222'],
      },
    });
    expect(planOf({ origin: { nats: { stream: 'S' } } }).origin).toEqual({
      ...{ kind: 'nats', stream: 'S', rate: null, connection: {} },
    });
  });

  it('a line: the stream behind the host, credentials apart', () => {
    expect(originLine('nats://u:p@a:1,b/OR%20DERS')).toEqual({
      nats: { url: 'nats://a:1,b:4222', stream: 'OR DERS' },
    });
    expect(originLine('tls://a,b/S')).toEqual({
      nats: { url: 'tls://a:4222,b:4222', stream: 'S' },
    });
    expect(originLine('nats:///S')).toEqual({ nats: { stream: 'S' } });
    const { user, password } = originCredentials('nats://u:p@a/S');
    expect([user, password?.reveal()]).toEqual(['u', 'p']);
    expect(originCredentials('nats://t@a/S').token?.reveal()).toBe('t');
    expect(originCredentials('synthetic:messages=1')).toEqual({});
  });

  it('a url of a scenario: its credentials are kept and not shown', () => {
    const plan = planOf({ origin: { nats: { ...NATS, url: 'nats://u:of-url@h' } } });
    expect(JSON.stringify(plan)).not.toContain('of-url');
    expect(plan.origin).toMatchObject({ connection: { user: 'u', servers: ['nats://h:4222'] } });
  });
});

describe('live origin: refused', () => {
  it.each([
    ['nats://h', '--origin: "nats://h" is not a url with a stream: nats://HOST:PORT/STREAM'],
    [
      'nats://u:of-url@h',
      '--origin: "nats://h" is not a url with a stream: nats://HOST:PORT/STREAM',
    ],
    ['nats://h/%', '--origin: "nats://h/%" is not a url'],
    ['nats://h:x/S', '--origin: "nats://h:x/S" is not nats://HOST:PORT'],
    ['nats://%@h/S', '--origin: "nats://h/S" is not a url with percent-encoded credentials'],
  ])('%s', (source, message) => {
    expect(refused(() => [originLine(source), originCredentials(source)])).toBe(message);
  });

  it.each([
    [{ ...NATS, stream: 'a.b' }, 'origin.nats.stream: "a.b" is not the name of a stream'],
    [
      { ...NATS, url: 'nats://h/S' },
      'origin.nats.url: "/S" is not left out here: the stream has its own key',
    ],
    [
      { ...NATS, url: 'http://u:of-url@h' },
      'origin.nats.url: "http://h" is not nats://… or tls://…',
    ],
    [
      { ...NATS, timeout: '5' },
      'origin.nats.timeout: "5" is not a duration with its unit, such as 250ms or 2s',
    ],
    [{ ...NATS, stream: 'a\nb' }, 'origin.nats.stream: "a\\u{a}b" is not text in one line'],
    [
      { ...NATS, jsDomain: 'a b' },
      'origin.nats.jsDomain: "a b" is not one word of a subject: no space, dot or wildcard',
    ],
    [
      { ...NATS, jsApiPrefix: '.a' },
      'origin.nats.jsApiPrefix: ".a" is not a prefix of subjects such as a.b: ' +
        'no space, empty word or wildcard',
    ],
    [
      { ...NATS, inboxPrefix: 'a.*' },
      'origin.nats.inboxPrefix: "a.*" is not a prefix of subjects such as a.b: ' +
        'no space, empty word or wildcard',
    ],
    [{ ...NATS, password: 'x' }, 'origin.nats: "password" is not a known key'],
    [{ url: 'nats://h' }, 'origin.nats.stream: missing, expected text'],
  ])('%j', (nats, message) => {
    expect(refusedPlan({ origin: { nats } })).toBe(`test: ${message}`);
  });

  it.each([
    [{ originDelete: '1..2' }, 'originDelete'],
    [{ originPurge: 2 }, 'originPurge'],
    [{ originExpire: 1 }, 'originExpire'],
    [{ originRecreate: 1 }, 'originRecreate'],
  ])('a fault that would change what it holds: %j', (fault, kind) => {
    const faults = [
      { dropConsumer: true, at: '1s' },
      { ...fault, at: '1s' },
    ];
    expect(refusedPlan({ origin: { nats: NATS }, faults })).toBe(
      `test: faults[1]: "${kind}" is not possible on a live origin: it is read and never changed`,
    );
    expect(planOf({ faults }).faults).toHaveLength(2);
  });
});
