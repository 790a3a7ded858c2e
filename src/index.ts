/** lockstep as a library: read a scenario, play it on a driver, look at what came of it. */
/// <reference lib="esnext.disposable" preserve="true" />
export { LockstepError, type ErrorCode, type ErrorData } from './base/errors.js';
export { loadHasher, type Hasher } from './base/hasher.js';
export {
  startCluster,
  type Cluster,
  type ClusterOptions,
  type Strikes,
  type WaitOptions,
} from './kit/cluster.js';
export type { TestDriver } from './kit/drivers.js';
export type { MemberState } from './kit/members.js';
export { findServer, NatsServer, type ServerOptions } from './nats/server.js';
export {
  fault,
  scenario,
  type FaultOptions,
  type FaultWords,
  type ScenarioFields,
} from './scenario/builder.js';
export type { OpenOwnOrigin, OwnMessage, OwnOrigin } from './scenario/own-origin.js';
export { parseScenario, planScenario, type ReadFile } from './scenario/parse.js';
export { play, type PlayOptions, type PlayResult } from './scenario/play.js';
export type { ClusterEvent, Driver, RunningCluster } from './scenario/driver.js';
export type { AddedFaultText, FaultText, Scenario } from './scenario/schema.js';
export type { DriverName, FaultPlan, OriginPlan, Plan } from './scenario/types.js';
export { simDriver } from './sim/driver.js';
export { threadsDriver } from './threads/driver.js';
export { renderRun } from './report/terminal.js';
export { EXIT, EXIT_USAGE } from './verdict/types.js';
export type { Difference, FaultSummary, Reason, RunSummary, Verdict } from './verdict/types.js';
