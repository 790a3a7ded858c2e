import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReplySubject } from '../../src/nats/reply-subject.js';

const reply = new ReplySubject();
const SAFE = Number.MAX_SAFE_INTEGER;

function read(text: string): unknown {
  const fault = reply.read(new TextEncoder().encode(text));
  const { seq, deliverySeq, timestamp, pending } = reply;
  return fault ?? { seq, deliverySeq, timestamp, pending };
}

describe('reply subject: both forms', () => {
  const fields = { seq: 42, deliverySeq: 7, timestamp: 1_796_007_573_153_830_700n, pending: 3 };
  it.each([
    ['nine tokens', '$JS.ACK.ORDERS.c1.1.42.7.1796007573153830700.3'],
    ['domain and account', '$JS.ACK.hub.AbCd1234.ORDERS.c1.1.42.7.1796007573153830700.3'],
    ['no domain', '$JS.ACK._.AbCd1234.ORDERS.c1.1.42.7.1796007573153830700.3'],
    ['and what follows', '$JS.ACK._.AbCd1234.ORDERS.c1.1.42.7.1796007573153830700.3.xYz'],
    ['much that follows', `$JS.ACK._.A.ORDERS.c1.1.42.7.1796007573153830700.3${'.x'.repeat(20)}`],
  ])('%s', (_title, text) => {
    expect(read(text)).toEqual(fields);
  });

  it('the largest numbers there are', () => {
    expect(read(`$JS.ACK.S.C.1.${SAFE}.${SAFE}.9223372036854775807.${SAFE}`)).toEqual({
      ...{ seq: SAFE, deliverySeq: SAFE, timestamp: 9_223_372_036_854_775_807n, pending: SAFE },
    });
    expect(read('$JS.ACK.S.C.1.1.1.0.0')).toEqual({
      ...{ seq: 1, deliverySeq: 1, timestamp: 0n, pending: 0 },
    });
  });

  it('every number reads as itself', () => {
    const count = fc.maxSafeNat();
    const time = fc.bigInt({ min: 0n, max: 9_223_372_036_854_775_807n });
    fc.assert(
      fc.property(count, count, time, count, (before, delivery, timestamp, pending) => {
        const [seq, deliverySeq] = [before || 1, delivery || 1];
        const tail = `1.${seq}.${deliverySeq}.${timestamp}.${pending}`;
        const expected = { seq, deliverySeq, timestamp, pending };
        expect(read(`$JS.ACK.S.C.${tail}`)).toEqual(expected);
        expect(read(`$JS.ACK.D.A.S.C.${tail}.r`)).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });
});

describe('reply subject: refused', () => {
  const SEQ = 'its stream sequence is no number from 1 to 2^53-1';
  const DELIVERY = 'its delivery sequence is no number from 1 to 2^53-1';
  const TIME = 'its time is no 64-bit number of nanoseconds';
  const PENDING = 'its pending count is no number from 0 to 2^53-1';
  it.each([
    ['', 'it does not begin with $JS.ACK'],
    ['_INBOX.abc', 'it does not begin with $JS.ACK'],
    ['$JS.ACK.S.C.1.1.1.1', 'it has 8 tokens'],
    ['$JS.ACK.A.S.C.1.1.1.1.1', 'it has 10 tokens'],
    ['$JS.ACK.S.C.0.1.1.1.1', 'its delivery count is no number from 1'],
    ['$JS.ACK.S.C.x.1.1.1.1', 'its delivery count is no number from 1'],
    ['$JS.ACK.S.C.1.0.1.1.1', SEQ],
    ['$JS.ACK.S.C.1..1.1.1', SEQ],
    ['$JS.ACK.S.C.1.-1.1.1.1', SEQ],
    ['$JS.ACK.S.C.1.1e3.1.1.1', SEQ],
    ['$JS.ACK.S.C.1.9007199254740992.1.1.1', SEQ],
    ['$JS.ACK.S.C.1.18446744073709551615.1.1.1', SEQ],
    ['$JS.ACK.S.C.1.1.0.1.1', DELIVERY],
    ['$JS.ACK.S.C.1.1. 1.1.1', DELIVERY],
    ['$JS.ACK.S.C.1.1.9007199254740992.1.1', DELIVERY],
    ['$JS.ACK.S.C.1.1.1..1', TIME],
    ['$JS.ACK.S.C.1.1.1.9223372036854775808.1', TIME],
    ['$JS.ACK.S.C.1.1.1.10000000000000000000.1', TIME],
    ['$JS.ACK.S.C.1.1.1.17960075731538307x0.1', TIME],
    ['$JS.ACK.S.C.1.1.1.1.', PENDING],
    ['$JS.ACK.S.C.1.1.1.1.-1', PENDING],
    ['$JS.ACK.D.A.S.C.1.1.1.1.9007199254740992', PENDING],
  ])('%j', (text, fault) => {
    expect(read(text)).toBe(fault);
  });
});
