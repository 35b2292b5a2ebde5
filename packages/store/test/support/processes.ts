import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';

const CHILD = path.join(import.meta.dirname, 'child.ts');

export interface RunningChild {
  readonly process: ChildProcess;
  readonly ended: Promise<{ readonly signal: NodeJS.Signals | null; readonly stdout: string }>;
  /** The first line it prints. */
  readonly firstLine: Promise<string>;
  kill(): void;
}

/** Starts `child.ts` in a role, in a process group of its own. */
export function startChild(role: string, ...args: readonly (string | number)[]): RunningChild {
  const child = spawn(process.execPath, [CHILD, role, ...args.map(String)], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let stdout = '';
  const { promise: firstLine, resolve } = Promise.withResolvers<string>();
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
    const end = stdout.indexOf('\n');
    if (end >= 0) resolve(stdout.slice(0, end));
  });
  const ended = new Promise<Awaited<RunningChild['ended']>>((done, fail) => {
    child.once('error', fail);
    child.once('close', (_code, signal) => done({ signal, stdout }));
  });
  const kill = (): void => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    process.kill(-child.pid, 'SIGKILL');
  };
  return { process: child, ended, firstLine, kill };
}
