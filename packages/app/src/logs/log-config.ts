import { err, ok, type Result } from '@signalbox/model';
import * as z from 'zod';
import { CONFIG_FILE, readConfigPart } from '../settings/config-file.ts';
import { type LogLevel, logLevels } from './projections/log-line.ts';

/** The minimum level of a run's log, and its size limit. */
export interface LogSettings {
  readonly level?: LogLevel | undefined;
  readonly maxBytes?: number | undefined;
}

/** The default. */
export const DEFAULT_LOG_BYTES = 16 * 1024 * 1024;
export const DEFAULT_LOG_LEVEL: LogLevel = 'debug';

export const logsPart = z.strictObject({
  level: z.enum(logLevels).optional(),
  maxBytes: z
    .int()
    .min(1000)
    .max(2 ** 30)
    .optional(),
});

/** From `logs` of the data directory's configuration. A log must not prevent a run: invalid values are reported and ignored. */
export function readLogSettings(dataDirectory: string): Result<LogSettings, string> {
  const read = readConfigPart(dataDirectory, 'logs', logsPart);
  return read.ok ? ok(read.value ?? {}) : err(`${CONFIG_FILE} cannot be used: ${read.error}`);
}
