import * as fs from 'node:fs';
import * as os from 'node:os';
import { runProgram } from '../programs/run-program.ts';
import { bytesOf, type CommandLimits } from './command-limits.ts';

/** The system program that limits what root starts; without it, limits between two checks are weaker. */
export interface LimitPrograms {
  readonly nsenter?: string | undefined;
}

/**
 * Kernel limits per process, as shell code that runs before the program is executed. If one cannot be set, the shell exits.
 *
 * 1. Memory means writable memory, not reservations. Programs like Node map much writable memory that they never use, so this
 *    limit is wider than the command's limit, which applies to the actual use of all processes together.
 * 2. Processes are counted per user, and since Linux 5.14 per user namespace. Only in its own namespace does a command start
 *    at zero; elsewhere it starts at the user's current count. Root is not limited in this way: see `boundProcesses`.
 */
export function limitProcess({ memoryMb, processes, fileMb }: CommandLimits, inOwnNamespace: boolean): string {
  const others = () => (inOwnNamespace && isSince(5, 14) ? 0 : tasksOf(process.geteuid?.() ?? 0));
  const most = ownLimits();
  const limit = (name: keyof typeof LIMIT_NAMES, wanted: number, unit = 1) =>
    Math.floor(Math.min(wanted, most(name)) / unit);
  const data = limit('data', bytesOf(memoryMb + RESERVED_MB), 1024);
  const lines = ['ulimit -c 0', `ulimit -d ${data}`, `ulimit -f ${limit('fsize', bytesOf(fileMb), 512)}`];
  if (!isRoot()) {
    const most = limit('nproc', others() + hardLimit(processes));
    // Shells have two names for it.
    lines.push(`{ ulimit -u ${most} 2>/dev/null || ulimit -p ${most}; }`);
  }
  return `${lines.join(' && ')} || exit 1`;
}

const LIMIT_NAMES = { data: 'Max data size', fsize: 'Max file size', nproc: 'Max processes' } as const;

/** Our own limits: only root may exceed them, and a program that requests more is not started. */
function ownLimits(): (name: keyof typeof LIMIT_NAMES) => number {
  let text = '';
  try {
    text = fs.readFileSync('/proc/self/limits', 'utf8');
  } catch {
    // Without /proc there is no sandbox either.
  }
  return name => {
    const hard = new RegExp(`^${LIMIT_NAMES[name]}\\s+\\S+\\s+(\\d+)`, 'm').exec(text)?.[1];
    return hard === undefined ? Number.POSITIVE_INFINITY : Number(hard);
  };
}

/** Whether the number of processes in a namespace can be limited, even for root. */
export function canBoundProcesses({ nsenter }: LimitPrograms): boolean {
  return nsenter !== undefined && isRoot() && isSince(6, 14);
}

/** Limits the processes in a process's namespace by its highest process number. */
export async function boundProcesses(
  { nsenter = '' }: LimitPrograms,
  pid: number,
  { processes }: CommandLimits,
): Promise<void> {
  const script = 'echo "$0" > /proc/sys/kernel/pid_max';
  const args = ['--target', String(pid), '--pid', '--', '/bin/sh', '-c', script];
  const highest = String(hardLimit(processes) + RESERVED);
  // If this is refused, the command is still watched.
  await runProgram(nsenter, [...args, highest], { env: {} });
}

const MARGIN = 1.5;
/** More processes than a command can start between two checks on a busy machine, so that a check sees it above its limit. */
const BETWEEN_LOOKS = 1024;
/** Each Node thread maps about 600 MB of writable memory. */
const RESERVED_MB = 8192;
/** Programs of the sandbox itself. */
const SLACK = 64;
/** Process numbers that the kernel does not reuse. */
const RESERVED = 300;

/** Where the kernel stops a command: far enough above its limit for a check to notice. */
export function hardLimit(processes: number): number {
  return Math.max(Math.ceil(processes * MARGIN), processes + BETWEEN_LOOKS) + SLACK;
}

/** Processes and threads of a user. */
function tasksOf(uid: number): number {
  let tasks = 0;
  for (const name of fs.readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      if (fs.statSync(`/proc/${name}`).uid === uid) tasks += fs.statSync(`/proc/${name}/task`).nlink - 2;
    } catch {
      // It has ended.
    }
  }
  return tasks;
}

function isRoot(): boolean {
  return process.geteuid?.() === 0;
}

function isSince(major: number, minor: number): boolean {
  const [own = 0, patch = 0] = os.release().split('.').map(Number);
  return own > major || (own === major && patch >= minor);
}
