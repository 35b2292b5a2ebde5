import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import {
  type AgentProject,
  type AgentRow,
  agentProject,
  INSTALL_ARGUMENTS,
  type InstalledAgent,
  installedIn,
} from '@signalbox/adapters/acp';

/** The source of an installation in the cache; written last. */
const MARK = 'installed-from';

/** The directory that `npm run agents` fills and that tests look in: outside the checkout, so that all clones share it. */
export function agentsCache(env: Readonly<Record<string, string | undefined>> = process.env): string {
  if (env.SIGNALBOX_AGENTS_CACHE) return path.resolve(env.SIGNALBOX_AGENTS_CACHE);
  return path.join(env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'signalbox', 'agents');
}

/** The agent at its pinned version; undefined if the cache does not have it. */
export async function cachedAgent(row: AgentRow, cache: string): Promise<InstalledAgent | undefined> {
  const project = await agentProject(row);
  const directory = directoryOf(row, cache);
  return project !== undefined && isFrom(project, directory) ? installedIn(row, directory) : undefined;
}

/**
 * Whether tests of a real agent are left out: where there are no layers, and where it is not installed. In CI, which installs all of
 * them, they run and fail instead.
 */
export function isLeftOut(isThere: boolean, hasLayers: boolean, env = process.env): boolean {
  return !hasLayers || (!isThere && env.CI !== 'true');
}

export type Filled =
  | { readonly kind: 'installed' | 'present'; readonly agent: InstalledAgent }
  | { readonly kind: 'failed'; readonly reason: string };

/**
 * Installs an agent that the cache does not have. Its directory is moved into place once it is whole: one that was cut off is never
 * mistaken for an agent, and of two that install at once, one is kept.
 */
export async function fillCache(row: AgentRow, cache: string, npm = 'npm'): Promise<Filled> {
  const present = await cachedAgent(row, cache);
  if (present !== undefined) return { kind: 'present', agent: present };
  const project = await agentProject(row);
  if (project === undefined) return { kind: 'failed', reason: 'no lock pins its packages.' };
  mkdirSync(cache, { recursive: true });
  removeLeft(cache);
  const making = mkdtempSync(path.join(cache, `${MAKING}${process.pid}-`));
  try {
    for (const [name, content] of Object.entries(project.files)) writeFileSync(path.join(making, name), content);
    const failure = await failureOf(npm, INSTALL_ARGUMENTS, making);
    if (failure !== undefined) return { kind: 'failed', reason: `npm could not install it: ${failure}` };
    if (installedIn(row, making) === undefined) {
      return { kind: 'failed', reason: `its packages have no program for ${process.platform}-${process.arch}.` };
    }
    writeFileSync(path.join(making, MARK), project.digest);
    const directory = directoryOf(row, cache);
    if (!isFrom(project, directory)) place(making, directory, () => isFrom(project, directory));
    const agent = installedIn(row, directory);
    return agent === undefined
      ? { kind: 'failed', reason: `${directory} was removed while it was installed; run this again.` }
      : { kind: 'installed', agent };
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

const MAKING = '.making-';

/** Removes installations that a killed process left unfinished. */
function removeLeft(cache: string): void {
  for (const name of readdirSync(cache)) {
    const pid = Number(new RegExp(`^\\${MAKING}(\\d+)-`).exec(name)?.[1]);
    if (name.startsWith(MAKING) && !isAlive(pid)) rmSync(path.join(cache, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Moves an installation into place. Another process may do the same at this moment: the one that is there then is as good. */
function place(making: string, directory: string, isDone: () => boolean): void {
  try {
    rmSync(directory, { recursive: true, force: true });
    renameSync(making, directory);
  } catch (cause) {
    if (!isDone()) throw cause;
  }
}

function directoryOf(row: AgentRow, cache: string): string {
  return path.join(cache, `${row.id}-${row.package?.version}`);
}

function isFrom({ digest }: AgentProject, directory: string): boolean {
  try {
    return readFileSync(path.join(directory, MARK), 'utf8') === digest;
  } catch {
    return false;
  }
}

/** Resolves with the last lines of its errors, if it fails. */
function failureOf(npm: string, args: readonly string[], directory: string): Promise<string | undefined> {
  return new Promise(resolve => {
    const child = spawn(npm, args, { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', text => {
      errors = `${errors}${text}`.slice(-20_000);
    });
    child.on('error', error => resolve(error.message));
    child.on('close', code => resolve(code === 0 ? undefined : (reasonIn(errors) ?? `it exited with ${code}.`)));
  });
}

/** npm's own first sentences, without the help and the path of its log. */
function reasonIn(errors: string): string | undefined {
  const lines = errors.split('\n').flatMap(line => /^npm error (?!A complete log)(.+)/.exec(line)?.[1] ?? []);
  return lines.length === 0 ? undefined : lines.slice(0, 4).join(' ');
}
