import type { LogLevel } from './projections/log-line.ts';

/** Where a part of the program says what it does. What is said is data; who listens decides how it looks. */
export interface Log {
  say(level: LogLevel, message: string, fields?: LogFields): void;
  /** The same, with fields that every line has: a component, a run, a node, a correlation id. */
  with(fields: LogFields): Log;
}

export type LogFields = Readonly<Record<string, unknown>>;
