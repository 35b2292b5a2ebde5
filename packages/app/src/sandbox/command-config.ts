import { err, ok, type Result } from '@signalbox/model';
import * as z from 'zod';
import { CONFIG_FILE, readConfigPart } from '../settings/config-file.ts';

export interface CommandSettings {
  /** Whether agents' commands run without a sandbox if none works. */
  readonly allowUnconfined: boolean;
}

export const commandsPart = z.strictObject({ allowUnconfined: z.boolean().default(false) });

/** From `commands` of the data directory's configuration. Invalid values allow nothing. */
export function readCommandSettings(dataDirectory: string): Result<CommandSettings, string> {
  const read = readConfigPart(dataDirectory, 'commands', commandsPart);
  if (!read.ok) return err(`${CONFIG_FILE} cannot be used: ${read.error}`);
  return ok(read.value ?? { allowUnconfined: false });
}
