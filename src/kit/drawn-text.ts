/** A drawn run as a person reads it: what was drawn, and the list of its faults. */
import {
  HEARTBEAT_TICKS,
  ELECTION_TICKS_MAX,
  ELECTION_TICKS_MIN,
  TICK_MS,
} from '../base/limits.js';
import { grouped, table } from '../report/text.js';
import type { Conditions, LinkConditions } from '../sim/conditions.js';
import { faultId, type SwarmFault, type SwarmPlan } from '../sim/swarm-plan.js';

/** Lines without their ends. */
export function describeSwarm(plan: SwarmPlan): string[] {
  const { seed, replicas, core, conditions } = plan;
  const inCore = core.length === replicas ? 'all healed' : `healed ${core.map(slotAt).join(' ')}`;
  const after = plan.beyondQuorum === true ? 'beyond quorum, never healed' : inCore;
  const rows: [string, string][] = [
    ['cluster', `${counted(replicas, 'replica')}, elected by ${plan.election}; ${after}`],
    ['time', `${plan.safetyMs} ms of faults; the mirror's constants times ${plan.timeScale}`],
    ['origin', originText(plan)],
    ['gaps', gapsText(plan)],
    ['raft', raftText(plan)],
    ['bounds', boundsText(plan)],
    ['peers', linkText(conditions.peers)],
    ['to origin', linkText(conditions.origin)],
    ['to conductor', linkText(conditions.control)],
    ['hosts', hostsText(conditions)],
  ];
  return [
    `seed ${seed}`,
    ...rowsOf(rows),
    ...(plan.faults.length === 0 ? ['  no faults'] : rowsOf(plan.faults.map(faultRow))),
  ];
}

function originText({ origin, load, sentinelAfterMs = 0 }: SwarmPlan): string {
  const { messages, size, rate } = origin;
  const sizes = load === undefined || load.sizeMax === size ? size : `${size} to ${load.sizeMax}`;
  const burst = load?.burst ?? null;
  const paced = rate === null ? 'at once' : `${grouped(rate)} a second`;
  const shape =
    burst === null ? paced : `${grouped(burst.messages)} at a time every ${burst.everyMs} ms`;
  const held =
    load === undefined
      ? ''
      : `, headers on 1 of ${grouped(load.headersEvery)}; ` +
        `the last ${load.heldBack} come ${sentinelAfterMs} ms after healing`;
  return `${counted(messages, 'message')} of ${sizes} bytes, ${shape}${held}`;
}

function gapsText({ origin: { gaps }, skip }: SwarmPlan): string {
  if (gaps.length === 0) return 'none';
  const texts = gaps.map((gap) => `${grouped(gap.count)} after message ${grouped(gap.after)}`);
  return `${texts.join(', ')}; skipped by ${skip}`;
}

function raftText({ tuning }: SwarmPlan): string {
  const {
    electionTicksMin: least = ELECTION_TICKS_MIN,
    electionTicksMax: most = ELECTION_TICKS_MAX,
    heartbeatTicks: beat = HEARTBEAT_TICKS,
  } = tuning?.limits ?? {};
  const { preVote = true, checkQuorum = true } = tuning ?? {};
  const onOff = (on: boolean): string => (on ? 'on' : 'off');
  return (
    `election ${least * TICK_MS} to ${most * TICK_MS} ms, heartbeat ${beat * TICK_MS} ms, ` +
    `pre-vote ${onOff(preVote)}, check-quorum ${onOff(checkQuorum)}`
  );
}

function boundsText({ tuning }: SwarmPlan): string {
  const window = tuning?.window;
  const texts = Object.entries(tuning?.limits ?? {})
    .filter(([name]) => !name.includes('Ticks'))
    .map(([name, value]) => `${name} ${grouped(value)}`);
  if (window !== undefined) {
    texts.push(`window ${grouped(window.messages)} messages, ${grouped(window.bytes)} bytes`);
  }
  return texts.length === 0 ? 'as usual' : texts.join(', ');
}

function linkText(link: LinkConditions): string {
  const { delayMinUs, delayMaxUs, lossPerMille, duplicatePerMille } = link;
  const { reorderPerMille, reorderMaxUs } = link;
  const fates = [
    ...(lossPerMille === 0 ? [] : [`${lossPerMille} of 1,000 lost`]),
    ...(duplicatePerMille === 0 ? [] : [`${duplicatePerMille} doubled`]),
    ...(reorderPerMille === 0
      ? []
      : [`${reorderPerMille} overtaken by up to ${reorderMaxUs / 1_000} ms`]),
  ];
  const delay = `${delayMinUs / 1_000} to ${delayMaxUs / 1_000} ms`;
  return [delay, ...(fates.length === 0 ? ['nothing lost'] : fates)].join(', ');
}

function hostsText({ writeMinUs, writeMaxUs, turnUs, driftPerMille }: Conditions): string {
  return (
    `writes ${writeMinUs / 1_000} to ${writeMaxUs / 1_000} ms, turns ${turnUs / 1_000} ms, ` +
    `clocks off by up to ${driftPerMille} of 1,000`
  );
}

function faultRow(fault: SwarmFault, at: number): string[] {
  const { atMs, when, target, action } = fault;
  const { kind, ...parameters } = action;
  const texts = Object.entries(parameters).map(([name, value]) => `${name} ${value}`);
  const moment = when === undefined ? '' : `when ${when}`;
  const on = target === 'leader' ? target : slotAt(target);
  return [faultId(fault, at), `${atMs} ms`, on, kind, texts.join(', '), moment];
}

function slotAt(position: number): string {
  return `r${position + 1}`;
}

function rowsOf(rows: readonly (readonly string[])[]): string[] {
  return table(rows, new Set()).map((line) => `  ${line}`);
}

function counted(value: number, what: string): string {
  return `${grouped(value)} ${what}${value === 1 ? '' : 's'}`;
}
