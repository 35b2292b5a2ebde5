import { closeSync, fsyncSync, openSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { err, ok, type Result } from '@signalbox/model';
import * as z from 'zod';
import { CONFIG_FILE, readConfigFile, readConfigPart } from '../settings/config-file.ts';

const tokens = z.int().nonnegative().optional();
const costUsd = z.number().nonnegative().max(1e9).optional();
const amountsPart = z.strictObject({ tokens, costUsd });

/** `limits` of the data directory's configuration. */
export const limitsPart = z.strictObject({
  /** For runs that are started without limits of their own. */
  run: amountsPart.optional(),
  /** For all runs together on one day in UTC. */
  day: amountsPart.optional(),
  /** For the runs of a directory and everything below it: since its first run, and on one day. */
  projects: z
    .record(
      z.string().refine(path.isAbsolute, 'must be an absolute path'),
      z.strictObject({ tokens, costUsd, day: amountsPart.optional() }),
    )
    .optional(),
});
type LimitsPart = z.infer<typeof limitsPart>;

/** In the units of a run's limits. */
export interface Amounts {
  readonly maxTotalTokens?: number;
  readonly maxCostMicroUsd?: number;
}

interface LimitSettings {
  readonly run: Amounts;
  readonly day: Amounts;
  readonly projects: readonly { readonly directory: string; readonly total: Amounts; readonly day: Amounts }[];
}

export type LimitScope =
  | { readonly scope: 'run' }
  | { readonly scope: 'day' }
  | { readonly scope: 'project'; readonly directory: string }
  | { readonly scope: 'project-day'; readonly directory: string };

/** New amounts by name; `null` removes a limit, and what is not named stays. */
export interface AmountChange {
  readonly maxTotalTokens?: number | null | undefined;
  readonly maxCostMicroUsd?: number | null | undefined;
}

/** The limits in the configuration file, as they are written now. */
export interface LimitSettingsFile {
  /** The last usable ones if the file cannot be used; an error if there were none. */
  read(): Result<LimitSettings, string>;
  /** Changes with every write of the file. */
  version(): string;
  change(scope: LimitScope, amounts: AmountChange): Result<void, string>;
}

const NONE: LimitSettings = { run: {}, day: {}, projects: [] };

export function openLimitSettings(dataDirectory: string): LimitSettingsFile {
  const file = path.join(dataDirectory, CONFIG_FILE);
  let known: { readonly version: string; readonly read: Result<LimitSettings, string> } | undefined;

  const version = () => {
    const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
    return stat === undefined ? 'none' : `${stat.ino}:${stat.size}:${stat.mtimeNs}`;
  };
  return {
    version,
    read() {
      const now = version();
      if (known?.version === now) return known.read;
      const part = readConfigPart(dataDirectory, 'limits', limitsPart);
      const read = part.ok ? ok(part.value === undefined ? NONE : settingsOf(part.value)) : part;
      // Half of a file that is being edited does not stop the runs under way.
      known = { version: now, read: read.ok ? read : (known?.read ?? read) };
      return known.read;
    },
    change(scope, amounts) {
      const parts = readConfigFile(dataDirectory);
      if (!parts.ok) return parts;
      const part = limitsPart.safeParse(parts.value?.limits ?? {});
      if (!part.success) return err('its part "limits" is invalid');
      writeWhole(file, { ...parts.value, limits: changed(part.data, scope, amounts) });
      return ok(undefined);
    },
  };
}

function settingsOf({ run, day, projects = {} }: LimitsPart): LimitSettings {
  return {
    run: amountsOf(run),
    day: amountsOf(day),
    projects: Object.entries(projects).map(([directory, { day: ofDay, ...total }]) => ({
      directory: path.resolve(directory),
      total: amountsOf(total),
      day: amountsOf(ofDay),
    })),
  };
}

function amountsOf({ tokens: most, costUsd: cost }: z.infer<typeof amountsPart> = {}): Amounts {
  return {
    ...(most !== undefined && { maxTotalTokens: most }),
    ...(cost !== undefined && { maxCostMicroUsd: Math.round(cost * 1e6) }),
  };
}

function changed(part: LimitsPart, scope: LimitScope, amounts: AmountChange): LimitsPart {
  const after = <Of extends z.infer<typeof amountsPart>>(before: Of) => {
    const { maxTotalTokens: most, maxCostMicroUsd: cost } = amounts;
    const next = { ...before };
    if (most === null) delete next.tokens;
    else if (most !== undefined) next.tokens = most;
    if (cost === null) delete next.costUsd;
    else if (cost !== undefined) next.costUsd = cost / 1e6;
    return next;
  };
  if (scope.scope === 'run' || scope.scope === 'day')
    return { ...part, [scope.scope]: emptied(after(part[scope.scope] ?? {})) };
  const { directory } = scope;
  const { [directory]: project = {}, ...others } = part.projects ?? {};
  const next = scope.scope === 'project' ? after(project) : { ...project, day: emptied(after(project.day ?? {})) };
  const isEmpty = next.day === undefined && next.tokens === undefined && next.costUsd === undefined;
  return { ...part, projects: emptied(isEmpty ? others : { ...others, [directory]: next }) };
}

const emptied = <T extends object>(given: T): T | undefined => (Object.keys(given).length === 0 ? undefined : given);

/** All of the new file or all of the old one, whenever the process dies. */
export function writeWhole(file: string, content: unknown): void {
  const place = statSync(file, { throwIfNoEntry: false }) === undefined ? file : realpathSync(file);
  const temporary = `${place}.${process.pid}.new`;
  const written = openSync(temporary, 'w', 0o600);
  try {
    writeFileSync(written, `${JSON.stringify(content, null, 2)}\n`);
    fsyncSync(written);
  } finally {
    closeSync(written);
  }
  renameSync(temporary, place);
  const folder = openSync(path.dirname(place), 'r');
  fsyncSync(folder);
  closeSync(folder);
}
