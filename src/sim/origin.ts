/**
 * The origin of a simulation: the pure service on virtual time, with the ledger of what it gave.
 */
import type { Hasher } from '../base/hasher.js';
import type { Member } from '../base/member.js';
import type { OriginCommand } from '../mirror/types.js';
import { OriginContent } from '../origin/content.js';
import { OriginService } from '../origin/service.js';
import type { AddressedFrame } from '../origin/source.js';
import { strikeOrigin } from '../origin/strike.js';
import { Ledger } from '../verdict/ledger.js';
import type { LedgerReader, LedgerReport } from '../verdict/types.js';
import type { MadeOriginPlan, OriginAction } from '../scenario/types.js';
import type { Agenda } from './agenda.js';
import { FrameFaults } from './frame-faults.js';
import type { Burst, WorldPlan } from './node.js';

export interface OriginOutputs {
  send(addressed: AddressedFrame): void;
  firstDelivery(): void;
  /** Everything was handed out at least once, the sentinel included. */
  handedOut(): void;
}

const LATER_US = 1_000;

export class SimOrigin {
  readonly content: OriginContent;
  readonly service: OriginService;
  readonly frames = new FrameFaults();
  readonly #ledger = new Ledger();
  readonly #plan: WorldPlan;
  readonly #hasher: Hasher;
  readonly #agenda: Agenda;
  readonly #outputs: OriginOutputs;
  /** What came before the origin was opened. */
  #waiting: { readonly from: Member; readonly command: OriginCommand }[] = [];
  #serving = false;
  #bursts = true;
  #published = 0;
  #dueUs: number | null = null;
  readonly #pumpOf = (dueUs: number): void => {
    if (this.#dueUs === dueUs) this.#pump();
  };
  #saidFirst = false;
  #saidHandedOut = false;

  constructor(agenda: Agenda, plan: WorldPlan, hasher: Hasher, outputs: OriginOutputs) {
    this.#agenda = agenda;
    this.#plan = plan;
    this.#hasher = hasher;
    this.#outputs = outputs;
    this.content = this.#makeContent(plan.origin, 0);
    this.service = new OriginService(this.content, {
      ledger: this.#ledger,
      rate: plan.origin.rate,
      timeScale: plan.timeScale,
      window: plan.tuning?.window,
      seed: plan.seed,
    });
  }

  readonly ledger: LedgerReader = {
    report: () => Promise.resolve(this.#report()),
    records: (range) => Promise.resolve(this.service.records(range)),
  };

  serve(): void {
    this.#serving = true;
    this.#publishBurst(this.#plan.load?.burst ?? null);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { from, command } of waiting) {
      this.service.command(from, command, this.#agenda.nowMs);
    }
    this.#pump();
  }

  command(from: Member, command: OriginCommand): void {
    if (!this.#serving) {
      this.#waiting.push({ from, command });
      return;
    }
    this.service.command(from, command, this.#agenda.nowMs);
    this.#pump();
  }

  /** What was held back is published. */
  publishAll(): void {
    this.#bursts = false;
    this.service.publishUpTo(Number.POSITIVE_INFINITY);
    this.#pump();
  }

  /** A fault. False: it has no object at this moment. */
  strike(action: OriginAction): boolean {
    const { origin } = this.#plan;
    return strikeOrigin(this.service, action, this.#agenda.nowMs, (replan, life) =>
      this.#makeContent(replan(origin), life),
    );
  }

  /** A fault changed what there is to say. */
  wake(): void {
    if (this.#serving) this.#pump();
  }

  #makeContent(plan: MadeOriginPlan, life: number): OriginContent {
    const { seed, load } = this.#plan;
    return new OriginContent(plan, {
      seed,
      life,
      hasher: this.#hasher,
      sizeMax: load?.sizeMax,
      headersEvery: load?.headersEvery,
      allocate: (size) => new Uint8Array(size),
    });
  }

  /** Without bursts everything that is not held back is there from the start, at its rate. */
  #publishBurst(burst: Burst | null): void {
    const { load } = this.#plan;
    if (load === undefined) return;
    const most = this.content.messages - load.heldBack;
    this.#published = Math.min(most, this.#published + (burst?.messages ?? most));
    this.service.publishUpTo(this.#published);
    if (burst === null || this.#published === most) return;
    this.#agenda.after(burst.everyMs * 1_000, () => {
      if (!this.#bursts) return;
      this.#publishBurst(burst);
      this.#pump();
    });
  }

  #pump(): void {
    const nowMs = this.#agenda.nowMs;
    for (const addressed of this.service.pump(nowMs)) this.#outputs.send(addressed);
    this.#tell();
    const dueMs = this.service.nextDueMs(nowMs);
    this.#dueUs = null;
    if (dueMs !== null) this.#pumpAt(Math.ceil(dueMs * 1_000));
  }

  #pumpAt(dueUs: number): void {
    const atUs = Math.max(dueUs, this.#agenda.nowUs + LATER_US);
    this.#dueUs = atUs;
    this.#agenda.at(atUs, this.#pumpOf, atUs);
  }

  #tell(): void {
    if (!this.#saidFirst && this.service.firstDeliveryMs !== null) {
      this.#saidFirst = true;
      this.#outputs.firstDelivery();
    }
    if (!this.#saidHandedOut && this.service.handedOut >= this.content.last) {
      this.#saidHandedOut = true;
      this.#outputs.handedOut();
    }
  }

  #report(): LedgerReport {
    return { ...this.service.report(), ...this.#ledger.ranges() };
  }
}
