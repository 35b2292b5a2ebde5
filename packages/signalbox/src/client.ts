/** `signalbox/client`: the runs of a server, from Node and browsers. */
export {
  type ConnectOptions,
  connect,
  type PlanHandle,
  type PlanTypes,
  type Question,
  type RunEvent,
  type RunFacts,
  type RunHandle,
  type RunsFilter,
  type Signalbox,
  SignalboxError,
  type StartOptions,
} from '@signalbox/client';
