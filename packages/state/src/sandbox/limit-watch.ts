import * as fs from 'node:fs';
import { bytesOf, type CommandLimits, type LimitName } from './command-limits.ts';

/**
 * Looks again and again at what a command uses, with everything that it started, and says when that is too much. This is what
 * tells which limit was reached; the kernel's own limits bound what happens between two looks.
 *
 * 1. The command's own /proc lists all of its processes and no others, whatever parents they chose.
 * 2. Memory that few processes share counts once. Files in private directories are memory too.
 * 3. A look costs what the command is made of; looks are so far apart that they take a small part of our time.
 * 4. A look waits for nobody. Some files of /proc wait for a lock of the process that they tell of, which it may hold for long
 *    where there are many: those are read of few processes only, and only where it matters.
 */
export function watchLimits(
  first: number,
  limits: CommandLimits,
  place: WatchedPlace,
  exceeded: (limit: LimitName) => void,
): LimitWatch {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const look = () => {
    const begun = performance.now();
    const limit = limitReached(first, limits, place);
    if (isOver) return;
    if (limit !== undefined) return exceeded(limit);
    timer = setTimeout(look, Math.min(LONGEST_MS, Math.max(INTERVAL_MS, (performance.now() - begun) * REST)));
  };
  look();
  return {
    end() {
      isOver = true;
      clearTimeout(timer);
    },
    last: () => (isOver ? undefined : limitReached(first, limits, place)),
  };
}

export interface LimitWatch {
  /** One more look, at what a command that has just ended leaves behind for a moment. */
  last(): LimitName | undefined;
  end(): void;
}

export interface WatchedPlace {
  readonly root: string;
  /** Private directories of the command, by their paths in its filesystem. */
  readonly inMemory: readonly string[];
  /** Bytes that may be written to disk: never all that is free there. */
  readonly disk: number;
  readonly freeBefore: number;
}

export function watchedPlace(root: string, inMemory: readonly string[], { diskMb }: CommandLimits): WatchedPlace {
  const free = freeAt(root);
  return { root, inMemory, disk: Math.min(bytesOf(diskMb), free - Math.min(RESERVE, free / 2)), freeBefore: free };
}

function freeAt(directory: string): number {
  try {
    const { bavail, bsize } = fs.statfsSync(directory);
    return bavail * bsize;
  } catch {
    return 0;
  }
}

const INTERVAL_MS = 25;
/** A command that multiplies must not gain on us. */
const LONGEST_MS = 100;
/** How much longer than a look we wait for the next one. */
const REST = 10;
const RESERVE = bytesOf(256);
const PAGE = 4096;
/** Counted from the field after the name. */
const THREADS = 17;
/** Processes that are looked at closely. */
const FEW = 32;

function limitReached(first: number, limits: CommandLimits, place: WatchedPlace): LimitName | undefined {
  const inside = `/proc/${first}/root`;
  // Before the sandbox is made its first process sees our filesystem.
  if (isOurRoot(inside)) return undefined;
  const processes = names(`${inside}/proc`)
    .filter(name => /^\d+$/.test(name))
    .map(pid => `${inside}/proc/${pid}`);
  if (processes.length > limits.processes) return 'processes';
  const sum = (of: (process: string) => number) => processes.reduce((total, one) => total + of(one), 0);
  if (sum(threads) > limits.processes) return 'processes';
  const files = place.inMemory.reduce((total, path) => total + usedIn(inside + path), 0);
  const memory = bytesOf(limits.memoryMb);
  const isFew = processes.length <= FEW;
  if (files + sum(resident) > memory && (!isFew || files + sum(proportional) > memory)) return 'memory';
  // Nothing that was written is missing from the disk unless the disk misses it.
  if (place.freeBefore - freeAt(place.root) <= place.disk) return undefined;
  return !isFew || sum(written) > place.disk ? 'disk' : undefined;
}

function threads(process: string): number {
  const stat = text(`${process}/stat`);
  // A name before the state may hold anything.
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[THREADS] ?? 0);
}

/** Without what it shares with files. What it shares with its parent since a fork is in it. */
function resident(process: string): number {
  const [, all = 0, shared = 0] = numbers(text(`${process}/statm`));
  return (all - shared) * PAGE;
}

function proportional(process: string): number {
  const rollup = text(`${process}/smaps_rollup`);
  return kilobytes(rollup, 'Pss_Anon') + kilobytes(rollup, 'Pss_Shmem');
}

function kilobytes(rollup: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(rollup)?.[1] ?? 0) * 1024;
}

function written(process: string): number {
  const io = text(`${process}/io`);
  const field = (name: string) => Number(new RegExp(`^${name}: (\\d+)`, 'm').exec(io)?.[1] ?? 0);
  return Math.max(0, field('write_bytes') - field('cancelled_write_bytes'));
}

function isOurRoot(directory: string): boolean {
  try {
    const [one, own] = [`${directory}/`, '/'].map(path => fs.statSync(path));
    return one?.dev === own?.dev && one?.ino === own?.ino;
  } catch {
    return true;
  }
}

function usedIn(directory: string): number {
  try {
    const { blocks, bfree, bsize } = fs.statfsSync(directory);
    return (blocks - bfree) * bsize;
  } catch {
    return 0;
  }
}

function numbers(list: string): readonly number[] {
  return list === '' ? [] : list.trim().split(/\s+/).map(Number).filter(Number.isSafeInteger);
}

function names(directory: string): readonly string[] {
  try {
    return fs.readdirSync(directory);
  } catch {
    return [];
  }
}

/** Empty where the process is gone. */
function text(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8').replaceAll('\0', '');
  } catch {
    return '';
  }
}
