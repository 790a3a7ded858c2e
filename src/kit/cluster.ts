/**
 * A cluster under the control of a test: it injects faults when the test says so, waits for what
 * the test waits for, and is judged like a scenario. Faults are those of scenarios, armed in the
 * same hosts and told in the same words.
 */
import { LockstepError, toErrorData } from '../base/errors.js';
import { loadHasher, type Hasher } from '../base/hasher.js';
import { slotsOf, type Slot } from '../base/member.js';
import { formatDuration, parsePositiveDuration } from '../base/units.js';
import { OVER_BUDGET } from '../scenario/budget.js';
import {
  eachKind,
  type FaultParameters,
  type ScenarioFields,
  type StateText,
  type TargetText,
} from '../scenario/builder.js';
import { faultsOn } from '../scenario/checks.js';
import type { ClusterEvent, RunningCluster } from '../scenario/driver.js';
import { readInput } from '../scenario/input-file.js';
import { loaded } from '../scenario/own-origin.js';
import { planAdded, planScenario } from '../scenario/parse.js';
import { RunRecord } from '../scenario/record.js';
import { resultOf, Run, type Outcome, type PlayResult } from '../scenario/run.js';
import { FAULT_KINDS, type AddedFaultText, type Scenario } from '../scenario/schema.js';
import type { FaultKind, FaultPlan, Plan } from '../scenario/types.js';
import type { FaultSummary, LedgerReader } from '../verdict/types.js';
import { checkKeys } from '../scenario/words.js';
import { driverOf, type TestDriver } from './drivers.js';
import { MemberStates, type MemberState } from './members.js';
import { Waits } from './waits.js';

/** The fields of a scenario, all of them optional, and who runs it. */
export interface ClusterOptions extends Partial<ScenarioFields> {
  /** Default: threads. */
  readonly on?: TestDriver;
  /** Shown in reports. */
  readonly name?: string;
  /** The command that runs the caller again. */
  readonly replay?: string;
}

export interface WaitOptions {
  /** A duration of the driver's clock; default 30s. */
  readonly within?: string;
}

/** The data of a scenario file, drawn by fast-check say, and who runs it. */
type WholeScenario = Scenario & Pick<ClusterOptions, 'on' | 'replay'>;

/** `stepDown('leader')`: resolves once the fault is installed. */
export type Strikes = {
  readonly [K in FaultKind]: (
    target: TargetText<K>,
    parameters?: FaultParameters<K>,
  ) => Promise<FaultSummary>;
};

const ORIGIN_DEFAULT = { synthetic: { messages: 10_000 } };
const WITHIN_DEFAULT = '30s';
/** A fault whose time or state came is waited for as long as this; targets get 10 s of it. */
const FALL_MS = 20_000;

/**
 * Starts a cluster and waits for its first leader. Its origin is opened by the first wait, so that
 * a fault which the test injects first is armed before anything is delivered.
 *
 * Errors: usage; timeout, when nobody was elected.
 */
export async function startCluster(options: ClusterOptions | WholeScenario = {}): Promise<Cluster> {
  const { on = 'threads', name = 'a test', replay = '', ...fields } = options;
  const driver = driverOf('on', on);
  const text = { version: 1, name, origin: ORIGIN_DEFAULT, ...fields };
  const whole = await loaded(planScenario(text, 'startCluster', readInput));
  const plan = { ...whole, faults: faultsOn(whole.faults, driver.name) };
  const record = new RunRecord(plan, driver);
  const members = new MemberStates(slotsOf(plan.replicas));
  const events: ClusterEvent[] = [];
  const hasher = await loadHasher();
  const listen = (event: ClusterEvent): void => {
    events.push(event);
    members.add(event);
    record.add(event);
  };
  const running = await driver.start(plan, listen, { takesMore: true });
  const run = new Run(plan, running, record, []);
  let isLed = false;
  try {
    isLed = await run.elect();
  } finally {
    if (!isLed) await running[Symbol.asyncDispose]();
  }
  if (isLed) {
    return new Cluster({ plan, driver: on, running, run, record, members, events, hasher, replay });
  }
  const [{ verdict, text: why } = { verdict: 'stalled', text: 'no leader' }] = record.reasons(null);
  throw new LockstepError(verdict === 'harness' ? 'harness' : 'timeout', why);
}

interface ClusterParts {
  readonly plan: Plan;
  readonly driver: TestDriver;
  readonly running: RunningCluster;
  readonly run: Run;
  readonly record: RunRecord;
  readonly members: MemberStates;
  readonly events: readonly ClusterEvent[];
  readonly hasher: Hasher;
  readonly replay: string;
}

/**
 * Time passes while the test waits for it: on sim only then; on threads what a fault of the test
 * needs from the main thread is done then.
 */
export class Cluster implements AsyncDisposable {
  readonly plan: Plan;
  readonly driver: TestDriver;
  /** Everything that happened so far. */
  readonly events: readonly ClusterEvent[];
  /** What the test asked of it, and whether anybody waits for that. */
  readonly waits = new Waits();
  readonly #parts: ClusterParts;
  readonly #adding = new Set<Promise<void>>();
  #verified: Promise<PlayResult> | null = null;
  #closed: Promise<void> | null = null;

  constructor(parts: ClusterParts) {
    this.#parts = parts;
    this.plan = parts.plan;
    this.driver = parts.driver;
    this.events = parts.events;
  }

  /** Who leads at this moment; null: nobody. */
  leader(): Slot | null {
    return this.#parts.running.leader();
  }

  /** Every member as it was last heard of, by slot. */
  states(): readonly MemberState[] {
    const { members, running } = this.#parts;
    return members.list(running.living());
  }

  /**
   * Where a client of the test reaches the cluster on nats: its first server, no credentials. Null
   * on threads and sim: their members are threads and objects, which no client can connect to.
   */
  get url(): string | null {
    return this.#parts.running.place?.url ?? null;
  }

  /** The mirror's stream on nats; null on threads and sim, which have no streams with names. */
  get mirror(): { readonly name: string } | null {
    return this.#parts.running.place?.mirror ?? null;
  }

  /** What the origin handed out and passed over so far. */
  get ledger(): LedgerReader {
    return this.#parts.running.ledger;
  }

  /** What the origin will have handed out in the end. */
  get origin(): { readonly last: number; readonly messages: number } {
    const { last, messages } = this.#parts.running.origin;
    return { last, messages };
  }

  /** Faults that strike in the middle of the turn in which the state is reached. */
  when(state: StateText, options: WaitOptions = {}): Strikes {
    const within = withinOf('when', options);
    const inject = (text: AddedFaultText): Promise<FaultSummary> =>
      this.inject({ ...text, when: state, ...(within === undefined ? {} : { within }) });
    return eachKind(inject) as Strikes;
  }

  /**
   * Injects a fault, at once unless it has a trigger, and resolves when it is installed; what came
   * of it shows in the result of `verify`.
   *
   * Errors: usage; timeout: its time, state or target did not come, and what was last seen of it;
   * overBudget: it would break more than the cluster tolerates; unsupported: this driver cannot.
   */
  inject(text: AddedFaultText): Promise<FaultSummary> {
    const kind = FAULT_KINDS.find((known) => Object.hasOwn(text, known));
    return this.waits.add(kind ?? 'inject', this.#inject(text));
  }

  async #inject(text: AddedFaultText): Promise<FaultSummary> {
    this.#checkRunning();
    const { record, running } = this.#parts;
    const fault = planAdded(text, this.plan, record.faults.plans);
    const at = record.faults.plans.length;
    const adding = this.#parts.run.add(fault);
    this.#adding.add(adding);
    await adding;
    const what = `${fault.action.kind} (${fault.id})`;
    try {
      await this.#until(what, fallsWithinMs(fault), {
        isMet: () => record.faults.isDecided(fault.id),
        seen: () => 'neither its time nor its target',
      });
    } catch (error) {
      running.disarm(at);
      throw error;
    }
    const summary = record.fault(fault.id);
    if (summary.status === 'installed') return summary;
    throw notInstalled(what, summary);
  }

  /** Waits until every living member holds all that the origin has. Errors: timeout. */
  caughtUp(options: WaitOptions = {}): Promise<void> {
    return this.waits.add('caughtUp', this.#caughtUp(options));
  }

  async #caughtUp(options: WaitOptions): Promise<void> {
    const within = withinOf('caughtUp', options) ?? WITHIN_DEFAULT;
    const { record, running } = this.#parts;
    const { last } = running.origin;
    await this.#until('all to catch up', parsePositiveDuration('within', within), {
      isMet: () => record.isCaughtUp(running.living(), last),
      seen: () => `${this.#lastsText()} of ${last.toLocaleString('en')}`,
    });
  }

  /** Waits until somebody leads; the origin stays as it is. Errors: timeout. */
  elected(options: WaitOptions = {}): Promise<Slot> {
    return this.waits.add('elected', this.#elected(options));
  }

  async #elected(options: WaitOptions): Promise<Slot> {
    const within = withinOf('elected', options) ?? WITHIN_DEFAULT;
    const withinMs = parsePositiveDuration('within', within);
    await this.#until('a leader', withinMs, {
      isOpen: false,
      isMet: () => this.leader() !== null,
      seen: () => this.#rolesText(),
    });
    return this.leader()!;
  }

  /** Lets at least so much time of the driver's clock pass. */
  pass(duration: string): Promise<void> {
    return this.waits.add('pass', this.#pass(duration));
  }

  async #pass(duration: string): Promise<void> {
    const ms = parsePositiveDuration('duration', duration);
    const { running } = this.#parts;
    let untilMs: number | null = null;
    await this.#until(`${duration} to pass`, Number.POSITIVE_INFINITY, {
      isMet: () => running.now() >= (untilMs ??= running.now() + ms),
      seen: () => 'less',
    });
  }

  /**
   * Plays the run to its end as a scenario is (all caught up, or nothing moves any more), halts the
   * cluster and judges every copy. The cluster is over then.
   */
  verify(): Promise<PlayResult> {
    this.#verified ??= this.#conclude();
    return this.waits.add('verify', this.#verified);
  }

  /** Ends everything that was started; idempotent. */
  close(): Promise<void> {
    this.#closed ??= Promise.resolve(this.#parts.running[Symbol.asyncDispose]());
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #conclude(): Promise<PlayResult> {
    const { record, hasher, replay } = this.#parts;
    let outcome: Outcome | null = null;
    try {
      await this.#open();
      await this.#parts.run.toItsEnd();
      outcome = await this.#parts.run.judged(hasher);
    } catch (error) {
      if (this.#closed !== null) {
        const text = 'the cluster was closed while it was judged: await expect(cluster)';
        throw new LockstepError('usage', `${text}, or verify()`);
      }
      const { code, message } = toErrorData(error);
      // Nobody knows what became of what was not answered in time.
      record.reason(code === 'timeout' ? 'inconclusive' : 'harness', message);
    }
    return resultOf(record, outcome, replay);
  }

  /** What is being armed is armed before anything is delivered. */
  async #open(): Promise<void> {
    await Promise.all(this.#adding);
    await this.#parts.run.open();
  }

  async #until(what: string, withinMs: number, wait: Wait): Promise<void> {
    try {
      if (wait.isOpen !== false) await this.#open();
      await this.#steps(what, withinMs, wait);
    } catch (error) {
      // What it waited for was taken away meanwhile: that says more than what broke of it.
      this.#checkRunning();
      throw error;
    }
  }

  async #steps(what: string, withinMs: number, { isMet, seen }: Wait): Promise<void> {
    const { running, run } = this.#parts;
    const sinceMs = running.now();
    while (!isMet()) {
      this.#checkRunning();
      if (running.now() - sinceMs > withinMs) {
        const text = `waited ${formatDuration(withinMs)} for ${what}; last seen ${seen()}`;
        throw new LockstepError('timeout', text);
      }
      await run.step();
    }
  }

  #checkRunning(): void {
    const { record } = this.#parts;
    if (record.harnessFailed) {
      const failure = record.reasons(null).find(({ verdict }) => verdict === 'harness');
      throw new LockstepError('harness', failure!.text);
    }
    const over = this.#closed !== null ? 'closed' : this.#verified !== null ? 'judged' : null;
    if (over !== null) throw new LockstepError('usage', `the cluster was ${over} already`);
  }

  #lastsText(): string {
    return this.#living(({ slot, last }) => `${slot} ${last.toLocaleString('en')}`);
  }

  #rolesText(): string {
    return this.#living(({ slot, role, term }) => `${slot} ${role} in term ${term}`);
  }

  #living(text: (state: MemberState) => string): string {
    const texts = this.states()
      .filter(({ alive }) => alive)
      .map(text);
    return texts.length === 0 ? 'no living member' : texts.join(', ');
  }
}

interface Wait {
  /** False: the origin stays closed if it is. */
  readonly isOpen?: false;
  readonly isMet: () => boolean;
  /** What there was instead, for whoever waited in vain. */
  readonly seen: () => string;
}

/** Errors: usage, when an option is another one. */
function withinOf(where: string, options: WaitOptions): string | undefined {
  checkKeys(where, options, ['within']);
  return options.within;
}

function fallsWithinMs({ trigger }: FaultPlan): number {
  switch (trigger.kind) {
    case 'state':
      return trigger.withinMs + FALL_MS;
    case 'time':
      return trigger.atMs + FALL_MS;
    case 'after':
      return trigger.delayMs + FALL_MS;
  }
}

function notInstalled(what: string, { status, reason = status }: FaultSummary): LockstepError {
  const code =
    reason === OVER_BUDGET ? 'overBudget' : status === 'skipped' ? 'unsupported' : 'timeout';
  return new LockstepError(code, `${what} was ${status}: ${reason}`);
}
