import { defaultFleetConfig, type FleetConfig } from '@signalbox/fleet';
import {
  crashRecoveryPolicy,
  defined,
  ok,
  projectBrief,
  type Result,
  tickConfig,
  trustCalibrationProfiles,
  trustProfileName,
} from '@signalbox/model';
import * as z from 'zod';
import { readConfigPart } from '../settings/config-file.ts';

/** The part `fleet` of the configuration of a data directory. What is not there is as by default. */
export const fleetPart = z.strictObject({
  project: projectBrief.partial().optional(),
  ticks: tickConfig.partial().optional(),
  /** The preset of trust. */
  trust: trustProfileName.optional(),
  /** Trust is recorded as it would be, and does not change. */
  calibrationMode: z.boolean().optional(),
  /** What happens to agents whose process dies. */
  crashRecovery: crashRecoveryPolicy.optional(),
});

/** What the configuration says about the fleet, or why it cannot be used. */
export function readFleetConfig(dataDirectory: string): Result<FleetConfig, string> {
  const part = readConfigPart(dataDirectory, 'fleet', fleetPart);
  if (!part.ok) return part;
  const { project, ticks, trust = 'balanced', calibrationMode = false, crashRecovery } = part.value ?? {};
  const { config, ...profile } = trustCalibrationProfiles[trust];
  return ok({
    ...defaultFleetConfig,
    project: { ...defaultFleetConfig.project, ...defined(project ?? {}) },
    ticks: { ...defaultFleetConfig.ticks, ...defined(ticks ?? {}) },
    trust: { ...profile, config: { ...config, calibrationMode } },
    ...(crashRecovery === undefined ? {} : { crashRecovery }),
  });
}
