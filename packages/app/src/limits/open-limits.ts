import { type CeilingPorts, type Ceilings, createCeilings } from './ceilings.ts';
import { type LimitSettingsFile, openLimitSettings } from './limit-settings.ts';
import { openRaisedLimits, type RaisedLimits } from './raised-limits.ts';

/** The limits of a data directory over more than one run: what is configured, raised and spent. */
export interface Limits {
  readonly ceilings: Ceilings;
  readonly settings: LimitSettingsFile;
  readonly raised: RaisedLimits;
}

export function openLimits({
  dataDirectory,
  ...ports
}: Pick<CeilingPorts, 'reader' | 'clock'> & { readonly dataDirectory: string }): Limits {
  const settings = openLimitSettings(dataDirectory);
  const raised = openRaisedLimits(dataDirectory);
  return { settings, raised, ceilings: createCeilings({ ...ports, settings, raised }) };
}
