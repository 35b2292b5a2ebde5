import * as fs from 'node:fs';
import path from 'node:path';
import { type AgentRow, type InstalledAgent, installedIn } from '@signalbox/adapters/agents';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where `signalbox agents add` installs an agent. */
export function agentDirectory(dataDirectory: string, id: string): string {
  return path.join(dataDirectory, 'agents', id);
}

/** Looks in the data directory, then on the PATH. */
export function findInstalled(row: AgentRow, dataDirectory: string, env: Environment): InstalledAgent | undefined {
  const folder = agentDirectory(dataDirectory, row.id);
  const own = fs.existsSync(folder) ? installedIn(row, fs.realpathSync(folder)) : undefined;
  return own ?? onPath(row, env);
}

function onPath(row: AgentRow, env: Environment): InstalledAgent | undefined {
  const { package: of, start } = row;
  // The script of a package is on the PATH under the package's own name.
  const name = row.onPath ?? (start.kind === 'script' ? path.basename(of?.name ?? start.file) : start.file);
  const program = programNamed(name, env);
  if (program === undefined) return undefined;
  // A script that is run by an interpreter has a version of its own.
  const file = start.args.find(word => path.isAbsolute(word) && fs.existsSync(word)) ?? program;
  const version = versionAbove(fs.realpathSync(file)) ?? 'unknown';
  return { program: [program, ...start.args], version, from: of === undefined ? 'command' : 'PATH' };
}

/** A program by its name on the PATH, or by its absolute path. */
export function programNamed(
  name: string,
  env: Environment,
  isTrusted: (entry: string) => boolean = () => true,
): string | undefined {
  const entries = () => pathEntries(env).filter(isTrusted);
  const places = name.includes('/') ? [name] : entries().map(entry => path.join(entry, name));
  return places.find(place => path.isAbsolute(place) && isProgram(place));
}

/** The absolute directories of the PATH. */
export function pathEntries(env: Environment): readonly string[] {
  return (env.PATH ?? process.env.PATH ?? '').split(':').filter(entry => path.isAbsolute(entry));
}

/**
 * What an agent's program needs to be read: its installation, and the package of every file in its command line. Never a directory
 * that contains one of `closed`.
 */
export function placesOf(installed: InstalledAgent, closed: readonly string[]): readonly string[] {
  const files = installed.program.filter(word => path.isAbsolute(word) && fs.existsSync(word));
  const places = [
    ...(installed.directory === undefined ? [] : [installed.directory]),
    fs.realpathSync(process.execPath),
    ...files.flatMap(file => {
      const real = fs.realpathSync(file);
      const above = packageAbove(real);
      const place = above === undefined || closed.some(one => isInside(one, above)) ? real : above;
      // It is started by its own name, which may be a link.
      return real === file ? [place] : [place, file];
    }),
  ];
  return [...new Set(places)];
}

function isInside(one: string, directory: string): boolean {
  return one === directory || one.startsWith(directory === '/' ? '/' : `${directory}/`);
}

/** Directories above a program in which its package may begin. */
const LEVELS = 5;

function packageAbove(file: string): string | undefined {
  let place = path.dirname(file);
  for (let level = 0; level < LEVELS && place !== '/'; level++, place = path.dirname(place)) {
    if (versionIn(place) !== undefined) return place;
  }
  return undefined;
}

function versionAbove(file: string): string | undefined {
  const place = packageAbove(file);
  return place === undefined ? undefined : versionIn(place);
}

function versionIn(directory: string): string | undefined {
  try {
    const { version } = JSON.parse(fs.readFileSync(path.join(directory, 'package.json'), 'utf8'));
    return typeof version === 'string' ? version : undefined;
  } catch {
    return undefined;
  }
}

function isProgram(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}
