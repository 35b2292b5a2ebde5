import * as fs from 'node:fs';
import { setTimeout } from 'node:timers/promises';

/** Identifies a process, distinguishing it from a later one with the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startedAt: string;
}

/** Undefined if the process no longer exists. */
export function findProcess(pid: number): ProcessIdentity | undefined {
  const [state, ...fields] = statOf(pid);
  const startedAt = fields[STARTED_AT];
  return startedAt === undefined || state === 'Z' ? undefined : { pid, startedAt };
}

/** The processes that a process started, or that were left to it. Empty if the kernel does not say. */
export function childrenOf(pid: number): readonly number[] {
  try {
    return fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Waits until a process has ended; false if it does not. It is not our child, so we must poll. */
export async function processEnd({ pid, startedAt }: ProcessIdentity): Promise<boolean> {
  for (let waited = 0; waited < PATIENCE_MS; waited += POLL_MS) {
    if (findProcess(pid)?.startedAt !== startedAt) return true;
    await setTimeout(POLL_MS);
  }
  return false;
}

/** Counted from the field after the state. */
const STARTED_AT = 18;
const PATIENCE_MS = 10_000;
const POLL_MS = 2;

/** The fields of /proc/PID/stat from the state on; the name before it may contain anything. */
function statOf(pid: number): readonly string[] {
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
