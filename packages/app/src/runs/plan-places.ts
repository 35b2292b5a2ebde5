import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';
import * as z from 'zod';
import { readConfigPart } from '../settings/config-file.ts';

/**
 * Where the file of a plan may lie that is named over REST, MCP or the console. A person at the command line names any file.
 *
 * 1. Links are resolved first: of the file, of the roots and of the data directory.
 * 2. Nothing in the data directory is a plan: it holds the token and the truth.
 * 3. A file that is refused is not looked at: the answer is the same whether or not it exists.
 */
export interface PlanPlaces {
  /** The file with its links resolved, or why it may not be loaded. */
  find(file: string): Result<string, ErrorEnvelope>;
}

export interface PlanPlacesOptions {
  readonly dataDirectory: string;
  /** The project that this process was started in, and what comes with the program. */
  readonly roots: readonly string[];
}

/** The part `plans` of the configuration of a data directory. */
const plansPart = z.strictObject({
  /** More directories that plans may be started from. */
  roots: z.array(z.string().min(1).max(4096).refine(path.isAbsolute, 'must be an absolute path')).max(256).optional(),
});

/** More roots, as they are configured now, or why the configuration cannot be used. */
export function readPlanRoots(dataDirectory: string): Result<readonly string[], string> {
  const part = readConfigPart(dataDirectory, 'plans', plansPart);
  return part.ok ? ok(part.value?.roots ?? []) : part;
}

export function planPlaces({ dataDirectory, roots }: PlanPlacesOptions): PlanPlaces {
  return {
    find(file) {
      const configured = readPlanRoots(dataDirectory);
      const allowed = [...roots, ...(configured.ok ? configured.value : [])];
      const place = placeOf(path.resolve(file));
      if (place === undefined) return err(refused(file, allowed));
      if (isWithin(place, placeOf(dataDirectory) ?? dataDirectory)) return err(inData(file));
      const isAllowed = allowed.some(root => isWithin(place, placeOf(root) ?? root));
      return isAllowed ? ok(place) : err(refused(file, allowed));
    },
  };
}

/**
 * The project of a directory: the nearest one above it with `.signalbox`, else with `.git`, else itself. The home directory
 * and the root of the disk hold far more than a project, and are none.
 */
export function projectOf(directory: string, home: string = homedir()): string | undefined {
  const start = placeOf(directory) ?? directory;
  const within: string[] = [];
  for (let at = start; at !== path.dirname(at) && at !== (placeOf(home) ?? home); at = path.dirname(at))
    within.push(at);
  const withEntry = (name: string) => within.find(at => existsSync(path.join(at, name)));
  return withEntry('.signalbox') ?? withEntry('.git') ?? within[0];
}

/** A path with the links resolved of as much of it as exists; undefined where that cannot be told. */
function placeOf(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT' || isLink(file)) return undefined;
    const above = placeOf(path.dirname(file));
    return above === undefined ? undefined : path.join(above, path.basename(file));
  }
}

/** A link that leads nowhere may lead anywhere a moment later. */
function isLink(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}

function isWithin(file: string, root: string): boolean {
  const inside = path.relative(root, file);
  return inside.split(path.sep)[0] !== '..' && !path.isAbsolute(inside);
}

const WHAT_TO_DO =
  'Put the plan under one of them, add its directory to "plans.roots" in config.json of the data directory, or start it with "signalbox run".';

function refused(file: string, roots: readonly string[]): ErrorEnvelope<'plan/place-refused'> {
  const where = roots.length === 0 ? 'no directory is allowed here' : `allowed here: ${roots.join(', ')}`;
  return failure('plan/place-refused', {
    message: `${file} was not loaded: it is outside of the directories that plans may be started from (${where}).`,
    suggestion: roots.length === 0 ? WHAT_TO_DO.replace('Put the plan under one of them, a', 'A') : WHAT_TO_DO,
  });
}

function inData(file: string): ErrorEnvelope<'plan/place-refused'> {
  return failure('plan/place-refused', {
    message: `${file} was not loaded: it is in the data directory, where nothing is a plan.`,
    suggestion: 'Name the file of a plan in your project.',
  });
}
