import * as fs from 'node:fs';
import { namesIfReadable } from '../filesystem/directory-names.ts';
import { bytesOf, type CommandLimits, type LimitName } from './command-limits.ts';

/**
 * Repeatedly checks what a command and everything it started use, and reports when a limit is exceeded. This determines which
 * limit was reached; the kernel's own limits bound what happens between two checks.
 *
 * 1. The command's own /proc lists all of its processes and no others, whatever parents they chose.
 * 2. Memory shared by a few processes counts once. Files in private directories are memory too, and so are unnamed files.
 * 3. Memory that cannot be attributed, such as an unnamed file that is also mapped, counts up to the machine's increase in
 *    shared memory since the command began.
 * 4. The cost of a check depends on the command's size; checks are spaced so that they take a small part of our time.
 * 5. A check never blocks. Some /proc files wait for a lock of their process, which it may hold for long when there are many
 *    processes: those files are read only for a few processes, and only if it matters.
 */
export function watchLimits(
  first: number,
  limits: CommandLimits,
  place: WatchedPlace,
  exceeded: (limit: LimitName) => void,
  { intervalMs, longestMs }: WatchPace = COMMAND_PACE,
): LimitWatch {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const look = () => {
    const begun = performance.now();
    const limit = limitReached(first, limits, place);
    if (isOver) return;
    if (limit !== undefined) return exceeded(limit);
    timer = setTimeout(look, Math.min(longestMs, Math.max(intervalMs, (performance.now() - begun) * REST)));
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
  /** One last check, of what a command that has just ended briefly leaves behind. */
  last(): LimitName | undefined;
  end(): void;
}

export interface WatchedPlace {
  /** Private directories of the command, by their paths in its filesystem. */
  readonly inMemory: readonly string[];
  readonly disks: readonly WatchedDisk[];
  /** The machine's shared memory before the command. */
  readonly sharedBefore: number;
}

interface WatchedDisk {
  readonly directory: string;
  /** Bytes that may be written: never all free space. */
  readonly bytes: number;
  readonly before: Room;
  readonly isMemory: boolean;
}

interface Room {
  readonly bytes: number;
  /** Files that can still be created; 0 if unlimited. */
  readonly files: number;
  /** The filesystem's type number. */
  readonly type: number;
}

/** Takes the command's writable directories, by their paths in our filesystem. */
export function watchedPlace(
  directories: readonly string[],
  inMemory: readonly string[],
  { diskMb }: CommandLimits,
): WatchedPlace {
  const disks = directories.map(directory => {
    const before = roomAt(directory);
    const bytes = Math.min(bytesOf(diskMb), before.bytes - Math.min(RESERVE, before.bytes / 2));
    return { directory, before, bytes, isMemory: before.type === TMPFS };
  });
  return { inMemory, disks, sharedBefore: sharedOfMachine() };
}

function roomAt(directory: string): Room {
  try {
    const { bavail, bsize, ffree, type } = fs.statfsSync(directory);
    return { bytes: bavail * bsize, files: ffree, type };
  } catch {
    return { bytes: 0, files: 0, type: 0 };
  }
}

/** How far apart two checks are. */
export interface WatchPace {
  readonly intervalMs: number;
  readonly longestMs: number;
}

/** A command that multiplies must not outrun the checks. */
const COMMAND_PACE: WatchPace = { intervalMs: 25, longestMs: 100 };
/** A program that stays mostly waits; the kernel's limits bound what it does between two checks. */
export const STAYING_PACE: WatchPace = { intervalMs: 200, longestMs: 1000 };
/** The pause between checks, as a multiple of their duration. */
const REST = 10;
const TMPFS = 0x01021994;
const RESERVE = bytesOf(256);
const PAGE = 4096;
const BLOCK = 512;
/** Kernel memory used by any in-memory file, however small. */
const FILE = 1024;
const MANY_FILES = 10_000;
/** Counted from the field after the name. */
const THREADS = 17;
/** Up to this many processes are inspected closely. */
const FEW = 32;

function limitReached(first: number, limits: CommandLimits, place: WatchedPlace): LimitName | undefined {
  const inside = `/proc/${first}/root`;
  // Before the sandbox is built, its first process sees our filesystem.
  if (isOurRoot(inside)) return undefined;
  const processes = namesIfReadable(`${inside}/proc`)
    .filter(name => /^\d+$/.test(name))
    .map(pid => `${inside}/proc/${pid}`);
  if (processes.length > limits.processes) return 'processes';
  const sum = (of: (process: string) => number) => processes.reduce((total, one) => total + of(one), 0);
  if (sum(threads) > limits.processes) return 'processes';
  const files = place.inMemory.reduce((total, path) => total + usedIn(inside + path), 0);
  const memory = bytesOf(limits.memoryMb);
  const isFew = processes.length <= FEW;
  const [own, all] = [sum(resident), sum(residentWithShared)];
  const shared = sharedOfMachine() - place.sharedBefore;
  if (files + all > memory || own + shared > memory) {
    const mapped = isFew ? sum(shareOf) : Math.min(shared, sum(mappedBy));
    const used = Math.max(files + mapped, Math.min(shared, files + mapped + unnamedFiles(processes)));
    if (own + used > memory && (!isFew || sum(proportional) + used > memory)) return 'memory';
  }
  // Written data always reduces the disk's free space.
  return place.disks.some(disk => isFull(disk, () => !isFew || sum(writtenTo(disk)) > disk.bytes)) ? 'disk' : undefined;
}

function isFull({ directory, bytes, before }: WatchedDisk, hasWritten: () => boolean): boolean {
  const now = roomAt(directory);
  // No command needs half of a disk's free inodes.
  if (before.files - now.files > Math.max(MANY_FILES, before.files / 2)) return true;
  return before.bytes - now.bytes > bytes && hasWritten();
}

/** Shared memory of all processes, and files in memory. */
function sharedOfMachine(): number {
  return kilobytes(text('/proc/meminfo'), 'Shmem');
}

/** Unnamed in-memory files, each once: processes hold them open, mapped or not. */
function unnamedFiles(processes: readonly string[]): number {
  const found = new Map<string, number>();
  for (const process of processes) {
    for (const name of namesIfReadable(`${process}/fd`)) {
      try {
        const file = `${process}/fd/${name}`;
        if (!fs.readlinkSync(file).startsWith('/memfd:')) continue;
        const { dev, ino, blocks } = fs.statSync(file);
        found.set(`${dev}:${ino}`, blocks * BLOCK);
      } catch {
        // It was closed.
      }
    }
  }
  return [...found.values()].reduce((total, bytes) => total + bytes, 0);
}

function threads(process: string): number {
  const stat = text(`${process}/stat`);
  // The name before the state may contain anything.
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[THREADS] ?? 0);
}

/** Excludes memory shared with files; includes memory shared with its parent since a fork. */
function resident(process: string): number {
  const [, all = 0, shared = 0] = numbers(text(`${process}/statm`));
  return (all - shared) * PAGE;
}

function residentWithShared(process: string): number {
  return (numbers(text(`${process}/statm`))[1] ?? 0) * PAGE;
}

/** Its private memory, and its share of memory shared since a fork. */
function proportional(process: string): number {
  return kilobytes(text(`${process}/smaps_rollup`), 'Pss_Anon');
}

/** Its share of the shared memory that it mapped. */
function shareOf(process: string): number {
  return kilobytes(text(`${process}/smaps_rollup`), 'Pss_Shmem');
}

/** All shared memory that it mapped. */
function mappedBy(process: string): number {
  return kilobytes(text(`${process}/status`), 'RssShmem');
}

function kilobytes(table: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(table)?.[1] ?? 0) * 1024;
}

function writtenTo({ isMemory }: WatchedDisk): (process: string) => number {
  return process => {
    const io = text(`${process}/io`);
    const field = (name: string) => Number(new RegExp(`^${name}: (\\d+)`, 'm').exec(io)?.[1] ?? 0);
    // In-memory writes do not reach a disk.
    return isMemory ? field('wchar') : Math.max(0, field('write_bytes') - field('cancelled_write_bytes'));
  };
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
    const { blocks, bfree, bsize, files, ffree } = fs.statfsSync(directory);
    return (blocks - bfree) * bsize + (files - ffree) * FILE;
  } catch {
    return 0;
  }
}

function numbers(list: string): readonly number[] {
  return list === '' ? [] : list.trim().split(/\s+/).map(Number).filter(Number.isSafeInteger);
}

/** Empty if the process is gone. */
function text(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8').replaceAll('\0', '');
  } catch {
    return '';
  }
}
