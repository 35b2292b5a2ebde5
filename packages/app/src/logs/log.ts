import type { LogLevel } from './projections/log-line.ts';

/** A part of the program logs here. Lines are data; the destination decides their form. */
export interface Log {
  say(level: LogLevel, message: string, fields?: LogFields): void;
  /** The same, with fields for every line: a component, a run, a node, a correlation id. */
  with(fields: LogFields): Log;
}

export type LogFields = Readonly<Record<string, unknown>>;
