import { readFileSync } from 'node:fs';
import path from 'node:path';
import { err, ok, type Result } from '@signalbox/model';
import * as z from 'zod';
import { CONFIG_FILE } from '../retention/retention-config.ts';
import { type LogLevel, logLevels } from './projections/log-line.ts';

/** What the log of a run holds at least, and how large it gets. */
export interface LogSettings {
  readonly level?: LogLevel | undefined;
  readonly maxBytes?: number | undefined;
}

const config = z.looseObject({
  logs: z
    .strictObject({
      level: z.enum(logLevels).optional(),
      maxBytes: z
        .int()
        .min(1000)
        .max(2 ** 30)
        .optional(),
    })
    .optional(),
});

/** From `logs` of the data directory's configuration. A log is no reason not to run: what does not fit is told, and not used. */
export function readLogSettings(dataDirectory: string): Result<LogSettings, string> {
  let text: string;
  try {
    text = readFileSync(path.join(dataDirectory, CONFIG_FILE), 'utf8');
  } catch {
    return ok({});
  }
  try {
    const parsed = config.safeParse(JSON.parse(text));
    if (parsed.success) return ok(parsed.data.logs ?? {});
    const [issue] = parsed.error.issues;
    return err(`${CONFIG_FILE} does not fit at ${issue?.path.join('.')}: ${issue?.message}`);
  } catch {
    return err(`${CONFIG_FILE} is not JSON`);
  }
}
