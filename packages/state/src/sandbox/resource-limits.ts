import * as fs from 'node:fs';
import * as os from 'node:os';
import { runProgram } from '../programs/run-program.ts';
import { bytesOf, type CommandLimits } from './command-limits.ts';

/** The system's program that bounds what root starts; where it is missing, what happens between two looks is bounded less. */
export interface LimitPrograms {
  readonly nsenter?: string | undefined;
}

/**
 * Limits of the kernel for each process, as what a shell does before it becomes a program. If one cannot be set, it ends.
 *
 * 1. Memory is what a process can write to, not what it reserves for later. Programs like Node make much writable that they never
 *    use, so it is wider than the limit, which holds for what all processes together do use.
 * 2. Processes are counted per user, and since Linux 5.14 per user namespace. Only in a namespace of its own does a command begin
 *    at zero; elsewhere it begins at what its user has already. Root is not limited in this way: see `boundProcesses`.
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

/** The limits that we have ourselves: nobody but root may go beyond, and a program that asks for more is not started. */
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

/** Whether the number of processes in a namespace can be bounded, also for root. */
export function canBoundProcesses({ nsenter }: LimitPrograms): boolean {
  return nsenter !== undefined && isRoot() && isSince(6, 14);
}

/** Bounds the processes in the namespace of a process by the numbers that it may give them. */
export async function boundProcesses(
  { nsenter = '' }: LimitPrograms,
  pid: number,
  { processes }: CommandLimits,
): Promise<void> {
  const script = 'echo "$0" > /proc/sys/kernel/pid_max';
  const args = ['--target', String(pid), '--pid', '--', '/bin/sh', '-c', script];
  const highest = String(hardLimit(processes) + RESERVED);
  // Where it is refused the command is still watched.
  await runProgram(nsenter, [...args, highest], { env: {} });
}

const MARGIN = 1.5;
/** More processes than a command can make between two looks on a busy machine: then a look sees it above its limit. */
const BETWEEN_LOOKS = 1024;
/** Each thread of a Node makes some 600 MB writable. */
const RESERVED_MB = 8192;
/** Programs of the sandbox itself. */
const SLACK = 64;
/** Numbers of processes that the kernel does not give again. */
const RESERVED = 300;

/** Where the kernel stops a command: far enough above its limit for it to be seen there. */
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
