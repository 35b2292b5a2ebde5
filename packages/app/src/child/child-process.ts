/**
 * Child processes that play one role each. The program starts itself again to play a role.
 *
 * P1  Nothing is left running: a child leads its own process group, which is killed as a whole when its time is up, and it ends on its own
 *     when its input closes, which the death of this process causes.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** How to start this program for a role: a file to execute, and the arguments before the role and its own. */
export type Program = readonly [file: string, ...leading: string[]];

type ChildEnd =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'killed'; readonly signal: string }
  | { readonly kind: 'not_started'; readonly reason: string };

export interface Child {
  /** The first line it prints; undefined if it ends without one. */
  readonly firstLine: Promise<string | undefined>;
  readonly ended: Promise<ChildEnd>;
  /** Ends it at once, and waits until it is gone. */
  kill(): Promise<ChildEnd>;
}

/** More than any role needs, also on a machine that is busy with much else. */
const TIME_LIMIT_MS = 120_000;

export function startChild([file, ...leading]: Program, role: string, ...args: readonly string[]): Child {
  const child = spawn(file, [...leading, role, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
    windowsHide: true,
  });
  const limit = setTimeout(() => killGroup(child), TIME_LIMIT_MS);
  const ended = new Promise<ChildEnd>(resolve => {
    child.once('error', cause => resolve({ kind: 'not_started', reason: cause.message }));
    child.once('close', (code, signal) =>
      resolve(signal === null ? { kind: 'exited', code: code ?? 0 } : { kind: 'killed', signal }),
    );
  });
  ended.then(() => clearTimeout(limit));
  const lines = createInterface({ input: child.stdout });
  const firstLine = new Promise<string | undefined>(resolve => {
    lines.once('line', resolve);
    ended.then(() => resolve(undefined));
  });
  return {
    firstLine,
    ended,
    kill() {
      killGroup(child);
      return ended;
    },
  };
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    if (process.platform === 'win32') child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  } catch (cause) {
    const isGone = cause instanceof Error && 'code' in cause && cause.code === 'ESRCH';
    if (!isGone) throw cause;
  }
}
