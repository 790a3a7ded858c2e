/** How fast and how faithful links, disks, clocks and hosts of a simulation are. */

export interface LinkConditions {
  readonly delayMinUs: number;
  readonly delayMaxUs: number;
  /** Messages lost, doubled and overtaken, of 1,000. */
  readonly lossPerMille: number;
  readonly duplicatePerMille: number;
  readonly reorderPerMille: number;
  /** How much later than its delay an overtaken message comes, at most. */
  readonly reorderMaxUs: number;
}

export interface Conditions {
  readonly peers: LinkConditions;
  readonly origin: LinkConditions;
  /** Between the conductor and the members. */
  readonly control: LinkConditions;
  readonly writeMinUs: number;
  readonly writeMaxUs: number;
  /** What one turn of a host takes. */
  readonly turnUs: number;
  /** By how much of 1,000 the clock of a member may run fast or slow. */
  readonly driftPerMille: number;
}

const STEADY: LinkConditions = {
  delayMinUs: 30,
  delayMaxUs: 90,
  lossPerMille: 0,
  duplicatePerMille: 0,
  reorderPerMille: 0,
  reorderMaxUs: 0,
};

/** Threads of one machine: quick, in order, nothing lost. */
export const CALM: Conditions = {
  peers: STEADY,
  origin: STEADY,
  control: STEADY,
  writeMinUs: 20,
  writeMaxUs: 120,
  turnUs: 20,
  driftPerMille: 0,
};

/** What the world is like once it is healed. */
export const HEALED: Conditions = CALM;
