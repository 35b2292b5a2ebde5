import { err, ok, type Result } from '@signalbox/model';
import * as z from 'zod';
import { CONFIG_FILE, readConfigPart } from '../settings/config-file.ts';
import { type LogLevel, logLevels } from './projections/log-line.ts';

/** What the log of a run holds at least, and how large it gets. */
export interface LogSettings {
  readonly level?: LogLevel | undefined;
  readonly maxBytes?: number | undefined;
}

/** What they are where nothing is said. */
export const DEFAULT_LOG_BYTES = 16 * 1024 * 1024;
export const DEFAULT_LOG_LEVEL: LogLevel = 'debug';

const logs = z.strictObject({
  level: z.enum(logLevels).optional(),
  maxBytes: z
    .int()
    .min(1000)
    .max(2 ** 30)
    .optional(),
});

/** From `logs` of the data directory's configuration. A log is no reason not to run: what does not fit is told, and not used. */
export function readLogSettings(dataDirectory: string): Result<LogSettings, string> {
  const read = readConfigPart(dataDirectory, 'logs', logs);
  return read.ok ? ok(read.value ?? {}) : err(`${CONFIG_FILE} cannot be used: ${read.error}`);
}
