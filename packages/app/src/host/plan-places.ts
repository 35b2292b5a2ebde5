import { existsSync, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';
import { isCredentialPlace } from '@signalbox/state';
import * as z from 'zod';
import { readConfigPart } from '../settings/config-file.ts';
import { type FoundPlans, scanPlans } from './plan-scan.ts';

/**
 * Where files and directories may be that are named over REST, MCP or the console: plans, bundles, and where agents work. A person at the
 * command line may name any.
 *
 * 1. Links are resolved first: of the file, of the roots and of the data directory.
 * 2. Nothing in the data directory is opened, nor a hard link to something in it: it holds the token and the truth, and closing a file of
 *    the database would release the locks on it.
 * 3. A refused file is not accessed: the answer is the same whether or not it exists.
 * 4. Agents do not work where programs keep credentials, unless a person at the command line allows that directory.
 */
export interface PlanPlaces {
  /** The file with its links resolved, or why it may not be opened. */
  find(file: string, what?: 'plan' | 'bundle'): Result<string, ErrorEnvelope>;
  /** The directory, or why agents may not work there. */
  directory(directory: string, word?: PersonsWord): Result<string, ErrorEnvelope>;
  /** The plans that may be started. */
  plans(): FoundPlans;
}

/** What the person at this machine's command line allows for a file or directory. */
export interface PersonsWord {
  /** It may be anywhere. */
  readonly anyFile?: boolean | undefined;
  /** The directory may hold credentials. */
  readonly anyDirectory?: boolean | undefined;
}

export interface PlanPlacesOptions {
  readonly dataDirectory: string;
  /** The project that this process was started in, and what comes with the program. */
  readonly roots: readonly string[];
}

/** The part `plans` of the configuration of a data directory. */
export const plansPart = z.strictObject({
  /** More directories that plans may be started from. */
  roots: z.array(z.string().min(1).max(4096).refine(path.isAbsolute, 'must be an absolute path')).max(256).optional(),
});

/** The currently configured roots, or why the configuration cannot be used. */
export function readPlanRoots(dataDirectory: string): Result<readonly string[], string> {
  const part = readConfigPart(dataDirectory, 'plans', plansPart);
  return part.ok ? ok(part.value?.roots ?? []) : part;
}

export function planPlaces({ dataDirectory, roots }: PlanPlacesOptions): PlanPlaces {
  const rootsNow = () => {
    const configured = readPlanRoots(dataDirectory);
    return [...roots, ...(configured.ok ? configured.value : [])];
  };
  const home = () => placeOf(dataDirectory) ?? dataDirectory;
  const isAllowed = (place: string, allowed: readonly string[]) =>
    allowed.some(root => isWithin(place, placeOf(root) ?? root));
  return {
    find(file, what = 'plan') {
      const allowed = rootsNow();
      const place = placeOf(path.resolve(file));
      if (place === undefined) return err(refused(file, allowed, what));
      if (isWithin(place, home())) return err(inData(file, what));
      if (!isAllowed(place, allowed)) return err(refused(file, allowed, what));
      return isLinkInto(place, home()) ? err(inData(file, what)) : ok(place);
    },
    plans() {
      const { files, isMore } = scanPlans(rootsNow().map(root => placeOf(root) ?? root));
      return { files: files.filter(file => this.find(file).ok), isMore };
    },
    directory(directory, { anyFile = false, anyDirectory = false } = {}) {
      const given = path.resolve(directory);
      const place = placeOf(given);
      const allowed = rootsNow();
      if (!anyFile && (place === undefined || !isAllowed(place, allowed))) {
        return err(refused(directory, allowed, 'directory'));
      }
      if (!anyFile && place !== undefined && isWithin(place, home())) return err(inData(directory, 'directory'));
      if (!anyDirectory && isCredentialPlace(place ?? given)) return err(holdsCredentials(directory));
      return ok(anyFile ? given : (place ?? given));
    },
  };
}

/** Whether a file is a hard link to one in the data directory, checked without opening it. */
function isLinkInto(file: string, dataDirectory: string): boolean {
  const named = statSync(file, { throwIfNoEntry: false });
  if (named === undefined || !named.isFile() || named.nlink < 2) return false;
  const entries = readdirSync(dataDirectory, { recursive: true, withFileTypes: true });
  return entries.some(entry => {
    if (!entry.isFile()) return false;
    const own = statSync(path.join(entry.parentPath, entry.name), { throwIfNoEntry: false });
    return own?.ino === named.ino && own.dev === named.dev;
  });
}

/**
 * The project of a directory: its nearest ancestor with `.signalbox`, else with `.git`, else itself. The home directory and the root of the
 * disk hold far more than a project, and do not count.
 */
export function projectOf(directory: string, home: string = homedir()): string | undefined {
  const start = placeOf(directory) ?? directory;
  const end = placeOf(home) ?? home;
  const within: string[] = [];
  for (let at = start; at !== path.dirname(at) && at !== end; at = path.dirname(at)) within.push(at);
  const withEntry = (name: string) => within.find(at => existsSync(path.join(at, name)));
  return withEntry('.signalbox') ?? withEntry('.git') ?? within[0];
}

/** A path with links resolved as far as it exists; undefined if that cannot be determined. */
function placeOf(file: string): string | undefined {
  try {
    return realpathSync.native(file);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT' || isLink(file)) return undefined;
    const above = placeOf(path.dirname(file));
    return above === undefined ? undefined : path.join(above, path.basename(file));
  }
}

/** A dangling link may lead anywhere a moment later. */
function isLink(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}

function isWithin(file: string, root: string): boolean {
  const inside = path.relative(root, file);
  return inside.split(path.sep)[0] !== '..' && !path.isAbsolute(inside);
}

type Named = 'plan' | 'bundle' | 'directory';

const refusals: Readonly<Record<Named, string>> = {
  plan: 'was not loaded: it is outside of the directories that plans may be started from',
  bundle: 'was not opened: it is outside of the directories that bundles may be imported from',
  directory: 'is outside of the directories that agents may work in',
};
const otherways: Readonly<Record<Named, string>> = {
  plan: 'start it with "signalbox run"',
  bundle: 'import it with "signalbox import"',
  directory: 'start it with "signalbox run --directory"',
};

function refused(file: string, roots: readonly string[], what: Named): ErrorEnvelope<'plan/place-refused'> {
  const where = roots.length === 0 ? 'no directory is allowed here' : `allowed here: ${roots.join(', ')}`;
  const add = 'dd its directory to "plans.roots" in config.json of the data directory';
  return failure('plan/place-refused', {
    message: `${file} ${refusals[what]} (${where}).`,
    suggestion: `${roots.length === 0 ? 'A' : `Put the ${what} under one of them, a`}${add}, or ${otherways[what]}.`,
  });
}

function inData(file: string, what: Named): ErrorEnvelope<'plan/place-refused'> {
  return failure('plan/place-refused', {
    message: `${file} was not opened: it is in the data directory, where nothing is a ${what} to use.`,
    suggestion: `Name a ${what} in your project.`,
  });
}

function holdsCredentials(directory: string): ErrorEnvelope<'plan/place-refused'> {
  return failure('plan/place-refused', {
    message: `Agents do not work in ${directory}: programs keep credentials there.`,
    suggestion:
      'Name another directory with --directory. If this is the one you mean, say so at the command line: --any-directory.',
  });
}
