/**
 * Whatever an origin's shape, a link that loses, repeats and swaps frames, refusals, lost log tails
 * and changes of leadership do: once they end, the store is the origin, and no applied command was
 * ever out of its place.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ProposalRefusal } from '../../src/mirror/ports.js';
import type { OriginFrame, SkipEncoding } from '../../src/mirror/types.js';
import { PlainOrigin, play, Stage } from './stage.js';

type Fault =
  | { readonly kind: 'publish'; readonly count: number; readonly gap: number }
  | { readonly kind: 'frames'; readonly how: 'lose' | 'repeat' | 'swap' | 'pass' }
  | { readonly kind: 'refuse'; readonly code: ProposalRefusal; readonly after: number }
  | { readonly kind: 'flap'; readonly lost: number }
  | { readonly kind: 'apply'; readonly count: number }
  | { readonly kind: 'room'; readonly bytes: number }
  | { readonly kind: 'tick'; readonly count: number }
  | { readonly kind: 'advance'; readonly count: number }
  | { readonly kind: 'dropConsumer' }
  | { readonly kind: 'configure' };

const small = (max: number) => fc.integer({ min: 0, max });
const faults: fc.Arbitrary<Fault> = fc.oneof(
  fc.record({ kind: fc.constant('publish'), count: small(9), gap: small(25) }),
  fc.record({
    kind: fc.constant('frames'),
    how: fc.constantFrom('lose', 'repeat', 'swap', 'pass', 'pass', 'pass'),
  }),
  fc.record({
    kind: fc.constant('refuse'),
    code: fc.constantFrom('overrun', 'writeFailed', 'transferring', 'notLeader', 'staleTerm'),
    after: small(4),
  }),
  fc.record({ kind: fc.constant('flap'), lost: small(5) }),
  fc.record({ kind: fc.constant('apply'), count: small(4) }),
  fc.record({ kind: fc.constant('room'), bytes: fc.constantFrom(0, 100, 1_000, 1 << 25) }),
  fc.record({ kind: fc.constant('tick'), count: small(15) }),
  fc.record({ kind: fc.constant('advance'), count: small(9) }),
  fc.record({ kind: fc.constant('dropConsumer') }),
  fc.record({ kind: fc.constant('configure') }),
);

interface Settings {
  readonly skip: SkipEncoding;
  readonly batchCountMax: number;
  /** The origin's first sequence. */
  readonly startsAt: number;
  /** Messages in one frame. */
  readonly framesOf: number;
}

const settings: fc.Arbitrary<Settings> = fc.record({
  skip: fc.constantFrom<SkipEncoding>('entries', 'range'),
  batchCountMax: fc.constantFrom(1, 3, 10, 10_000),
  startsAt: fc.constantFrom(1, 2, 1_000_000),
  framesOf: fc.integer({ min: 1, max: 6 }),
});

class Run {
  readonly stage: Stage;
  readonly origin = new PlainOrigin();
  readonly #framesOf: number;
  #mismatched = 0;
  /** A leader that was told that it is none plans nothing: somebody must win before it goes on. */
  #deposed = false;

  constructor({ skip, batchCountMax, startsAt, framesOf }: Settings) {
    this.stage = new Stage({ skip, batchCountMax, timeScale: 0.01 });
    this.#framesOf = framesOf;
    this.origin.purgeTo(startsAt);
    this.stage.lead();
  }

  get mismatched(): number {
    return this.#mismatched;
  }

  meet(fault: Fault): void {
    const { stage, origin } = this;
    switch (fault.kind) {
      case 'publish':
        // The gap is there before anything of it was delivered.
        origin.publish(fault.count + fault.gap);
        origin.remove(origin.last - fault.gap + 1, origin.last);
        break;
      case 'frames':
        this.#carry(fault.how);
        break;
      case 'refuse':
        this.#refuse(fault.code, fault.after);
        break;
      case 'flap':
        stage.cluster.truncate(stage.cluster.log.length - Math.min(fault.lost, stage.unapplied));
        this.#lead();
        break;
      case 'apply':
        this.#apply(fault.count);
        break;
      case 'room':
        stage.room = fault.bytes;
        break;
      case 'tick':
        stage.tick(fault.count);
        break;
      case 'advance':
        for (let nth = 0; nth < fault.count; nth++) stage.mirror.advance();
        break;
      case 'dropConsumer':
        origin.dropConsumer();
        break;
      case 'configure':
        stage.mirror.configure(false);
        stage.mirror.configure(true);
    }
  }

  /**
   * No fault from here on, and a message at the end that shows what lies before it. The mirror must
   * find back by itself: it is led anew only if it had to wait for that.
   */
  heal(): void {
    const { stage, origin } = this;
    stage.refuse = () => null;
    stage.room = 1 << 25;
    origin.publish(1);
    if (this.#deposed) this.#lead();
    stage.mirror.transferAbandoned();
    this.#carry('pass');
    play(stage, origin, 500);
  }

  #lead(): void {
    this.#deposed = false;
    this.#apply(Infinity);
    this.stage.lead();
  }

  #apply(count: number): void {
    for (const { mismatched } of this.stage.apply(count)) this.#mismatched += mismatched;
  }

  #refuse(code: ProposalRefusal, after: number): void {
    let left = after;
    this.stage.refuse = () => {
      if (left-- > 0) return null;
      this.stage.refuse = () => null;
      this.#deposed ||= code === 'notLeader' || code === 'staleTerm';
      return code;
    };
  }

  #carry(how: 'lose' | 'repeat' | 'swap' | 'pass'): void {
    for (const command of this.stage.drain().originCommands) this.origin.command(command);
    const frames = this.origin.take(this.#framesOf);
    for (const frame of changed(frames, how)) this.stage.mirror.frame(frame);
  }
}

function changed(frames: OriginFrame[], how: string): OriginFrame[] {
  if (how === 'lose') return frames.filter((_, nth) => nth % 3 !== 1);
  if (how === 'repeat') return frames.flatMap((frame) => [frame, frame]);
  if (how === 'swap') return [...frames].reverse();
  return frames;
}

it('mirror: any faults, then none -> the store is the origin, nothing was out of place', () => {
  const property = fc.property(settings, fc.array(faults, { maxLength: 60 }), (shape, script) => {
    const run = new Run(shape);
    for (const fault of script) run.meet(fault);
    run.heal();
    expect(run.stage.store.messages).toEqual(run.origin.messages);
    expect(run.stage.store.state).toEqual(run.origin.state);
    expect(run.mismatched).toBe(0);
    const { lag, condition, attempts } = run.stage.mirror.status();
    expect({ lag, condition, attempts }).toEqual({ lag: 0, condition: 'running', attempts: 0 });
  });
  fc.assert(property, { numRuns: 1_000, seed: 8152 });
});
