/**
 * Where runs of one scenario on different drivers part: in what was found, never in how long it
 * took. Who led and who was killed differs by nature, so copies are compared as a set.
 */
import { decide } from './decide.js';
import type { RunSummary, Verdict } from './types.js';

/** One thing that is not the same everywhere. */
export interface Parting {
  readonly what: 'verdict' | 'origin' | 'copies' | 'messages' | 'faults';
  /** What each driver found, in the order of the runs. */
  readonly found: readonly string[];
}

const FINDINGS: readonly {
  readonly what: Parting['what'];
  readonly of: (summary: RunSummary) => string;
}[] = [
  { what: 'verdict', of: verdictText },
  { what: 'origin', of: ({ origin }) => stateText(origin) },
  { what: 'copies', of: copiesText },
  { what: 'messages', of: messagesText },
  { what: 'faults', of: faultsText },
];

/** In the order of what matters most; empty when all found the same. */
export function partings(summaries: readonly RunSummary[]): Parting[] {
  return FINDINGS.map(({ what, of }) => ({ what, found: summaries.map(of) })).filter(
    ({ found }) => new Set(found).size > 1,
  );
}

/** Of all runs together: the gravest. */
export function verdictOfAll(summaries: readonly RunSummary[]): Verdict {
  return decide(
    summaries.flatMap(({ verdict }) => (verdict === 'held' ? [] : [{ verdict, text: '' }])),
  );
}

function verdictText({ verdict, reasons }: RunSummary): string {
  const [first] = reasons.filter((reason) => reason.verdict === verdict);
  return first === undefined ? verdict : `${verdict}: ${first.text}`;
}

interface State {
  readonly first: number;
  readonly last: number;
  readonly messages: number;
  readonly deleted: number;
}

function stateText({ first, last, messages, deleted }: State): string {
  return `${first} to ${last}, ${messages} messages, ${deleted} deleted`;
}

function copiesText({ replicas }: RunSummary): string {
  const states = [...new Set(replicas.map(stateText))].sort();
  return states.length === 0 ? 'none' : states.join(' | ');
}

function messagesText({ messages }: RunSummary): string {
  const counts = Object.entries(messages).filter(([kind, count]) => count > 0 || kind === 'ok');
  return counts.map(([kind, count]) => `${count} ${kind}`).join(', ');
}

/** How often each kind came to each end; a kind that a driver was not asked for is not there. */
function faultsText({ faults }: RunSummary): string {
  const counts = new Map<string, number>();
  for (const { kind, status } of faults) {
    const key = `${kind} ${status}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const texts = [...counts].sort().map(([key, count]) => (count === 1 ? key : `${key} x${count}`));
  return texts.length === 0 ? 'none' : texts.join(', ');
}
