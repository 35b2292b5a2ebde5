import { type ChildProcess, spawn } from 'node:child_process';

interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
}

export interface RunningChild {
  readonly process: ChildProcess;
  readonly ended: Promise<ChildEnd>;
  /** The first line it prints. */
  readonly firstLine: Promise<string>;
  /** Kills it and everything it started. */
  kill(): void;
}

/** Starts a script with the current Node, in its own process group. */
export function startChild(script: string, ...args: readonly (string | number)[]): RunningChild {
  const child = spawn(process.execPath, [script, ...args.map(String)], {
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
  const ended = new Promise<ChildEnd>((done, fail) => {
    child.once('error', fail);
    child.once('close', (code, signal) => done({ code, signal, stdout }));
  });
  const kill = (): void => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    process.kill(-child.pid, 'SIGKILL');
  };
  return { process: child, ended, firstLine, kill };
}
