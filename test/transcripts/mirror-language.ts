/**
 * The language of stories about one mirror: r1's, with the log, the store and the origin by hand.
 * After each command the mirror works until it has nothing to do. Times are upstream's, ticks are
 * 10 ms, jitter is the least that it may be.
 *
 *     mirror [last=5] [skip=entries|range|direct] [batch=COMMANDS] [record-bytes=N]   the first
 *                          command; with `last` it holds that many messages of ORDERS
 *     lead · stop-leading · depose · new-term      the last two: the mirror is not told
 *     transfer · give-up-transfer                  proposals are refused; taken again
 *     configure · unconfigure
 *     opened after=5 last=9 pending=4 [created=1]  the answer of the origin
 *     refused TEXT                                 its refusal
 *     deliver 1 : 6 7 9..12 [pending=0]            messages from delivery number 1 on
 *     beat 4                                       a heartbeat, the last delivery being the fourth
 *     refuse overrun|writeFailed|mismatch [after=0]   a proposal, once `after` were taken
 *     room 0                                       bytes that the uncommitted window has left
 *     apply [COUNT]                                entries of the log, all by default
 *     truncate COUNT                               of the entries, only the first ones are left
 *     hold SEQ                                     the store moves there, not by this mirror
 *     wait 2s · status
 *
 * What the origin says is of the newest opening; `of=1.1` (term and generation) makes it of another.
 */
import { TICK_MS } from '../../src/base/limits.js';
import type { ProposalRefusal } from '../../src/mirror/ports.js';
import type { Opening, OriginFrame } from '../../src/mirror/types.js';
import type { ReplicaEvent } from '../../src/replica/types.js';
import { eventWords, wordsOf } from '../../src/sim/speech.js';
import { renderLine } from '../../src/sim/transcript.js';
import {
  delivery,
  opened,
  openingOf,
  ORDERS,
  plainContent,
  range,
  Stage,
} from '../mirror/stage.js';
import { mirrorWords } from './cluster-state.js';
import type { Command } from './command.js';
import type { Language } from './story.js';

export class MirrorLanguage implements Language {
  #stage = new Stage();
  #begun = false;
  #ticks = 0;
  #lines: string[] = [];
  #newest: Opening | null = null;
  #applied = 0;

  play(command: Command): readonly string[] {
    this.#lines = [];
    this.#act(command, this.#stage);
    command.end();
    this.#work();
    return this.#lines;
  }

  #act(command: Command, stage: Stage): void {
    switch (command.name) {
      case 'mirror':
        return this.#begin(command);
      case 'opened':
      case 'refused':
      case 'deliver':
      case 'beat':
        return this.#frame(this.#frameOf(command));
      case 'refuse':
        return refuse(command, stage);
      case 'room':
        stage.room = command.number();
        return;
      case 'truncate':
        return stage.cluster.truncate(command.number());
      case 'hold':
        return hold(stage, command.number());
      case 'apply':
        return this.#apply(command.more ? command.number() : stage.unapplied);
      case 'wait':
        return this.#wait(command.milliseconds() / TICK_MS);
      case 'status':
        return this.#tell(mirrorWords(stage.mirror.status()));
      default:
        lead(command.name, stage);
    }
  }

  #begin(command: Command): void {
    if (this.#begun) throw new Error('mirror: a story is about one');
    this.#begun = true;
    const last = command.numberAt('last') ?? 0;
    const batchCountMax = command.numberAt('batch');
    const recordBytesMax = command.numberAt('record-bytes');
    const stage = new Stage({
      skip: command.valueOf('skip', ['entries', 'range', 'direct']),
      ...(batchCountMax === undefined ? {} : { batchCountMax }),
      ...(recordBytesMax === undefined ? {} : { recordBytesMax }),
    });
    if (last > 0) stage.store.identity = ORDERS;
    hold(stage, last);
    this.#stage = stage;
  }

  #frameOf(command: Command): OriginFrame {
    const opening = this.#openingOf(command.value('of'));
    switch (command.name) {
      case 'opened': {
        const [startsAfter, last] = [command.numberAt('after') ?? 0, command.numberAt('last') ?? 0];
        const created = BigInt(command.numberAt('created') ?? ORDERS.created);
        const pending = command.numberAt('pending') ?? 0;
        const identity = { ...ORDERS, created };
        return opened(opening, { identity, startsAfter, last, pending });
      }
      case 'refused': {
        const words: string[] = [];
        while (command.more) words.push(command.word('a reason'));
        const error = { code: 'overrun', message: words.join(' ') } as const;
        return { type: 'refused', opening, error };
      }
      case 'deliver': {
        const deliverySeq = command.number();
        if (!command.maybe(':')) throw new Error('deliver: expected : before the sequences');
        const pending = command.numberAt('pending') ?? 0;
        return delivery(opening, deliverySeq, command.numbers(), { pending });
      }
      default:
        return { type: 'heartbeat', opening, lastDeliverySeq: command.number() };
    }
  }

  #openingOf(text: string | undefined): Opening {
    if (text === undefined) {
      if (this.#newest === null) throw new Error('nothing was asked for yet');
      return this.#newest;
    }
    const [term, generation] = text.split('.');
    return openingOf(Number(generation), Number(term));
  }

  #frame(frame: OriginFrame): void {
    this.#tell(`origin -> r1  ${wordsOf({ kind: 'frame', frame })}`);
    this.#stage.mirror.frame(frame);
  }

  #apply(count: number): void {
    const { cluster, store } = this.#stage;
    const { term } = cluster;
    for (let nth = 0; nth < count; nth++) {
      const [outcome] = this.#stage.apply(1);
      if (outcome === undefined) throw new Error('apply: nothing is left to apply');
      const place = { index: ++this.#applied, term, count: 1, last: store.last, hash: 0n };
      this.#event({ kind: 'apply', ...place, ...outcome });
    }
  }

  #wait(ticks: number): void {
    for (let tick = 0; tick < ticks; tick++) {
      this.#ticks++;
      this.#stage.tick();
      this.#work();
    }
  }

  /** Until there is nothing to do; then what was said is told. */
  #work(): void {
    this.#stage.advanceAll();
    const { events, originCommands } = this.#stage.drain();
    for (const event of events) this.#event(event);
    for (const command of originCommands) {
      if (command.type === 'open') this.#newest = command.opening;
      this.#tell(`r1 -> origin  ${wordsOf({ kind: 'command', command })}`);
    }
  }

  #event(event: ReplicaEvent): void {
    const words = eventWords(event);
    if (words !== null) this.#tell(`r1  ${words}`);
  }

  #tell(text: string): void {
    const line = { atMs: this.#ticks * TICK_MS, event: 0, text, id: null };
    this.#lines.push(renderLine(line));
  }
}

function hold({ store }: Stage, last: number): void {
  for (const seq of range(store.last + 1, last)) store.messages.set(seq, plainContent(seq));
  store.last = last;
}

function refuse(command: Command, stage: Stage): void {
  const code: ProposalRefusal = command.oneOf(['overrun', 'writeFailed', 'mismatch']);
  let left = command.numberAt('after') ?? 0;
  stage.refuse = () => {
    if (left-- > 0) return null;
    stage.refuse = () => null;
    return code;
  };
}

/** Who leads, and whether there is anything to mirror. */
function lead(name: string, stage: Stage): void {
  const { cluster, mirror } = stage;
  switch (name) {
    case 'lead':
      return stage.lead();
    case 'stop-leading':
      cluster.leader = null;
      return mirror.stopLeading();
    case 'depose':
      cluster.leader = 'r2.1';
      return;
    case 'new-term':
      cluster.term++;
      return;
    case 'transfer':
      cluster.transferring = true;
      return;
    case 'give-up-transfer':
      cluster.transferring = false;
      return mirror.transferAbandoned();
    case 'configure':
      return mirror.configure(true);
    case 'unconfigure':
      return mirror.configure(false);
    default:
      throw new Error(`no command of a mirror: ${name}`);
  }
}
