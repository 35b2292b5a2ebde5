import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isWritable } from '../layers/unmapped-files.ts';
import { quoted } from '../programs/shell-words.ts';
import { bytesOf, type CommandLimits, type LimitName } from './command-limits.ts';
import { hardLimit } from './resource-limits.ts';

/** A control group that one command runs in. */
export interface CommandCgroup {
  /** The shell code that joins the group, before it execs the command. */
  readonly enter: string;
  /** Which limit the kernel enforced on it; read this before removing the group. */
  reached(): LimitName | undefined;
  remove(): Promise<void>;
}

export interface CgroupPlaces {
  /** The cgroup of this process, according to the kernel. */
  readonly self: string;
  /** Where the unified hierarchy is mounted. */
  readonly mount: string;
}

const PLACES: CgroupPlaces = { self: '/proc/self/cgroup', mount: '/sys/fs/cgroup' };

/**
 * Creates a group with limits below the nearest cgroup (version 2) delegated to us: we may create groups in it and move our
 * processes there, and it controls memory and processes. Undefined if there is none; a systemd user session has one.
 */
export function makeCgroup(limits: CommandLimits, places: CgroupPlaces = PLACES): CommandCgroup | undefined {
  const parent = delegated(places);
  if (parent === undefined) return undefined;
  const group = path.join(parent, `signalbox-${randomUUID()}`);
  const set = (name: string, value: number | string) => fs.writeFileSync(path.join(group, name), String(value));
  try {
    fs.mkdirSync(group);
    set('memory.max', bytesOf(limits.memoryMb));
    set('pids.max', hardLimit(limits.processes));
  } catch {
    remove(group);
    return undefined;
  }
  for (const [name, value] of OPTIONAL) {
    try {
      set(name, value);
    } catch {
      // A kernel without swap or without group kills has no such file.
    }
  }
  return {
    // Without the group, the other limits still apply.
    enter: `{ echo $$ > ${quoted([`${group}/cgroup.procs`])}; } 2>/dev/null`,
    reached() {
      if (count(path.join(group, 'memory.events'), 'oom_kill') > 0) return 'memory';
      return count(path.join(group, 'pids.events'), 'max') > 0 ? 'processes' : undefined;
    },
    async remove() {
      for (let tries = 0; tries < TRIES && !remove(group); tries++) await setTimeout(RETRY_MS);
    },
  };
}

const OPTIONAL = [
  ['memory.swap.max', 0],
  ['memory.oom.group', 1],
] as const;
const TRIES = 50;
const RETRY_MS = 10;

function delegated({ self, mount }: CgroupPlaces): string | undefined {
  const own = /^0::(\/.*)$/m.exec(read(self))?.[1];
  if (own === undefined || !fs.existsSync(path.join(mount, 'cgroup.controllers'))) return undefined;
  // Our own group contains a process (us), so it cannot have limited groups below it.
  for (let at = path.dirname(own); own !== '/'; at = path.dirname(at)) {
    const group = path.join(mount, at);
    const controllers = read(path.join(group, 'cgroup.subtree_control')).trim().split(/\s+/);
    const isOurs = [group, path.join(group, 'cgroup.procs')].every(isWritable);
    if (isOurs && ['memory', 'pids'].every(name => controllers.includes(name))) return group;
    if (at === '/') return undefined;
  }
  return undefined;
}

function count(file: string, name: string): number {
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(read(file))?.[1] ?? 0);
}

function remove(group: string): boolean {
  try {
    fs.rmdirSync(group);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

function read(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
