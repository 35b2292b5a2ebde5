import { autonomy, riskPolicy } from '@signalbox/guided';
import { DiskError, hostDisk, ioFailure, nodeHasher, placeFile } from '@signalbox/journal';
import {
  type Clock,
  canonicalJson,
  type Digest,
  digest,
  type ErrorEnvelope,
  err,
  ok,
  type Result,
  timestamp,
  timestampOf,
  utf8Bytes,
} from '@signalbox/model';
import { diskFault, refusedBy } from '@signalbox/store';
import { defaultPreferences, type Preferences, type WorkflowPlace } from '@signalbox/workflow';
import * as z from 'zod';

/** The configuration that decides which tools and workflows an agent gets. A change applies from the next start of a server. */
const guidedConfig = z.strictObject({
  /** The tools and their schemas are those of the version. */
  appVersion: z.string(),
  workflowPlaces: z.array(z.strictObject({ kind: z.string(), directory: z.string() })),
  preferences: z.strictObject({ autonomy, riskPolicy }),
});
export type GuidedConfig = Readonly<z.infer<typeof guidedConfig>>;

const appliedConfig = z.strictObject({
  v: z.literal(1),
  appliedConfigHash: digest,
  config: guidedConfig,
  appliedAt: timestamp,
});
export type AppliedConfig = Readonly<z.infer<typeof appliedConfig>>;

export function configOf(
  appVersion: string,
  places: readonly WorkflowPlace[],
  preferences: Preferences = defaultPreferences,
): { readonly config: GuidedConfig; readonly hash: Digest } {
  const config: GuidedConfig = {
    appVersion,
    workflowPlaces: places.map(({ kind, directory }) => ({ kind, directory })),
    preferences: { autonomy: preferences.autonomy, riskPolicy: preferences.riskPolicy },
  };
  return { config, hash: nodeHasher(canonicalJson({ v: 1, ...config })) };
}

const fileIn = (dataDirectory: string) => `${dataDirectory}/applied-config.json`;

/** Records the configuration that a server started with. The last one counts. */
export function recordAppliedConfig(
  dataDirectory: string,
  { config, hash }: ReturnType<typeof configOf>,
  clock: Clock,
): Result<AppliedConfig, ErrorEnvelope> {
  const applied: AppliedConfig = { v: 1, appliedConfigHash: hash, config, appliedAt: timestampOf(clock) };
  const temporary = `${dataDirectory}/.applied-config.${process.pid}.tmp`;
  try {
    placeFile(hostDisk, { path: fileIn(dataDirectory), temporary }, utf8Bytes(canonicalJson(applied)));
    return ok(applied);
  } catch (cause) {
    if (!(cause instanceof DiskError)) throw cause;
    const isTold = diskFault(dataDirectory) !== undefined;
    return err(isTold ? refusedBy(fileIn(dataDirectory), cause) : ioFailure(cause, 'recording the configuration'));
  }
}

/** Undefined if no server started here, or its record cannot be read. */
export function readAppliedConfig(dataDirectory: string): AppliedConfig | undefined {
  const bytes = hostDisk.read(fileIn(dataDirectory));
  if (typeof bytes !== 'object') return undefined;
  try {
    return appliedConfig.safeParse(JSON.parse(Buffer.from(bytes).toString('utf8'))).data;
  } catch {
    return undefined;
  }
}
