import { autonomy, riskPolicy } from '@signalbox/guided';
import { ok, type Result } from '@signalbox/model';
import { defaultPreferences, type Preferences } from '@signalbox/workflow';
import * as z from 'zod';
import { readConfigPart } from '../settings/config-file.ts';

/** The part `workflows` of the configuration of a data directory: how far agents may go in guided sessions. */
export const workflowsPart = z.strictObject({ autonomy: autonomy.optional(), riskPolicy: riskPolicy.optional() });

/** The person's configured preferences over the defaults, or why the configuration cannot be used. */
export function readGuidedPreferences(dataDirectory: string): Result<Preferences, string> {
  const part = readConfigPart(dataDirectory, 'workflows', workflowsPart);
  if (!part.ok) return part;
  const { autonomy: goes = defaultPreferences.autonomy, riskPolicy: risks = defaultPreferences.riskPolicy } =
    part.value ?? {};
  return ok({ autonomy: goes, riskPolicy: risks });
}

/** An invalid configuration loosens nothing. */
export function guidedPreferences(dataDirectory: string): Preferences {
  const read = readGuidedPreferences(dataDirectory);
  return read.ok ? read.value : defaultPreferences;
}
