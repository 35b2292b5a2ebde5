export { type Client, createClient } from './client.ts';
export { type ConnectOptions, connect } from './connect-signalbox.ts';
export type {
  PlanHandle,
  PlanTypes,
  Question,
  RunEvent,
  RunFacts,
  RunHandle,
  RunsFilter,
  Signalbox,
  StartOptions,
} from './handles.ts';

export { logIn } from './log-in.ts';
export type { Answer } from './request.ts';
export { SignalboxError } from './signalbox-error.ts';
export type { News } from './watch.ts';
