/** Carries out a fault of the origin on its service; the same on every driver that has one. */
import { invariant, LockstepError, toErrorData } from '../base/errors.js';
import type {
  ContentChange,
  MadeOriginPlan,
  OriginAction,
  OriginRange,
} from '../scenario/types.js';
import type { SeqRange } from '../stream/types.js';
import type { OriginContent } from './content.js';
import { OriginService } from './service.js';
import type { OriginSource } from './source.js';

const REFUSED = toErrorData(new LockstepError('overrun', 'the origin has no room for a consumer'));

/** What an origin made anew is like, by what it was like before. */
export type Replan = (before: MadeOriginPlan) => MadeOriginPlan;

/**
 * False: it has no object at this moment (no opening is served, no such message exists by now,
 * nothing was handed out yet); the same fault may find one later.
 *
 * @param remake  makes the content of another life
 */
export function strikeOrigin(
  source: OriginSource,
  action: OriginAction,
  nowMs: number,
  remake: (replan: Replan, life: number) => OriginContent,
): boolean {
  switch (action.kind) {
    case 'dropConsumer':
      return source.dropConsumer();
    case 'refuseOpening':
      if ('times' in action.dose) source.refuseNext(action.dose.times, REFUSED);
      else source.refuseByChance(action.dose, REFUSED, nowMs);
      return true;
    case 'loseDeliveries': {
      const { dose } = action;
      if ('times' in dose) source.loseDeliveries(dose.times);
      else source.loseByChance(dose.perMillion, dose.forMs, nowMs);
      return true;
    }
    case 'repeatDeliveries': {
      const { dose } = action;
      if ('times' in dose) source.repeatDeliveries(dose.times);
      else source.repeatByChance(dose.perMillion, dose.forMs, nowMs);
      return true;
    }
    case 'stallOrigin':
      source.stall(action.forMs, nowMs);
      return true;
    default:
      invariant(source instanceof OriginService, 'only what is made here may be changed');
      return changeContent(source, action, nowMs, remake);
  }
}

function changeContent(
  service: OriginService,
  action: Extract<OriginAction, { kind: ContentChange }>,
  nowMs: number,
  remake: (replan: Replan, life: number) => OriginContent,
): boolean {
  switch (action.kind) {
    case 'originDelete':
      return service.remove(sequencesOf(service, action.range), nowMs) > 0;
    case 'originPurge': {
      const { to } = action;
      const below = typeof to === 'number' ? to - 1 : sequencesOf(service, to).last;
      return service.remove({ first: 1, last: below }, nowMs) > 0;
    }
    case 'originExpire':
      return service.remove({ first: 1, last: service.stream.endOf(1, action.count) }, nowMs) > 0;
    case 'originRecreate':
      return service.recreate((life) => remake(rebornPlan(action.messages), life));
  }
}

function sequencesOf(service: OriginService, range: OriginRange): SeqRange {
  if (!('next' in range)) return range;
  const first = service.handedOut + 1;
  return { first, last: service.stream.endOf(first, range.next) };
}

/** The same name and size of payload; messages 1 to `messages`, all of them there at once. */
function rebornPlan(messages: number): Replan {
  return (before) => {
    const { size } = before;
    if (before.kind === 'synthetic') return { ...before, messages, rate: null, gaps: [] };
    const { name } = before;
    const whole = { first: 1, last: messages, messages, rate: null, gaps: [] };
    return { kind: 'nats-gaps', name, size, ...whole };
  };
}
