import * as fs from 'node:fs';
import path from 'node:path';
import type { AgentProject } from '@signalbox/adapters/agents';

/**
 * How an agent's directory is made and removed: beside its place, under a name that begins with a dot, and moved in one step.
 *
 * 1. An agent's place holds a whole installation or nothing, also after a crash.
 * 2. The name says which process works there. What a dead process left is removed by the next installation.
 */
export function asidePlace(place: string): string {
  return fs.mkdtempSync(path.join(path.dirname(place), `.${path.basename(place)}-${process.pid}-`));
}

const ASIDE = /^\..+-(\d+)-[^-]+$/;

export function removeLeftovers(parent: string): void {
  for (const name of fs.readdirSync(parent)) {
    const maker = ASIDE.exec(name)?.[1];
    if (maker === undefined || isAlive(Number(maker))) continue;
    fs.rmSync(path.join(parent, name), { recursive: true, force: true });
  }
}

/** Moves a whole installation to its place, and removes the one that was there. */
export function putInPlace(made: string, place: string): void {
  for (;;) {
    takeAway(place);
    try {
      fs.renameSync(made, place);
      return;
    } catch (cause) {
      // Another process put its own there in between.
      const { code } = cause as NodeJS.ErrnoException;
      if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw cause;
    }
  }
}

export function takeAway(place: string): void {
  if (!fs.existsSync(place)) return;
  const aside = asidePlace(place);
  try {
    // A directory may replace an empty one.
    fs.renameSync(place, aside);
  } catch (cause) {
    // Another process took it away.
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
  } finally {
    fs.rmSync(aside, { recursive: true, force: true });
  }
}

export interface InstallProgress {
  /** Packages that are unpacked. */
  readonly done: number;
  readonly of: number;
}

/** Counts packages of the lock that are there. Those of other platforms never will be. */
export function progressIn(directory: string, { files }: AgentProject): () => InstallProgress {
  const { packages } = JSON.parse(files['package-lock.json'] ?? '{}') as Lock;
  const wanted = Object.entries(packages ?? {}).flatMap(([place, one]) =>
    place !== '' && isForHere(one) ? [place] : [],
  );
  return () => ({
    done: wanted.filter(place => fs.existsSync(path.join(directory, place, 'package.json'))).length,
    of: wanted.length,
  });
}

interface Lock {
  readonly packages?: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
}

function isForHere({ os, cpu }: LockedPackage): boolean {
  return includes(os, process.platform) && includes(cpu, process.arch);
}

function includes(names: readonly string[] | undefined, name: string): boolean {
  if (names === undefined || names.includes(name)) return true;
  return names.every(each => each.startsWith('!')) && !names.includes(`!${name}`);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
