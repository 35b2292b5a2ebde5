import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

/** A Node process in a group of its own. */
export interface NodeProcess {
  readonly pid: number;
  readonly exit: Promise<Exit>;
  /** Ends the process and everything that it started. */
  kill(): void;
}

interface Exit {
  readonly code: number | null;
  /** By `performance.now()`. */
  readonly startedAt: number;
  readonly exitedAt: number;
}

export interface NodeProcessOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Called for each line of the standard output, with when it arrived. */
  readonly line?: (line: string, at: number) => void;
}

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) killGroup(child);
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));

export function startNode(args: readonly string[], { env = {}, cwd, line }: NodeProcessOptions = {}): NodeProcess {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, {
    cwd,
    detached: true,
    stdio: ['ignore', line === undefined ? 'ignore' : 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${process.execPath} could not be started`);
  running.add(child);
  if (line !== undefined && child.stdout !== null) {
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      const at = performance.now();
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const one of lines) line(one, at);
    });
  }
  let exitedAt = 0;
  child.once('exit', () => {
    exitedAt = performance.now();
  });
  const exit = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject);
    // Everything that it wrote has been read by now.
    child.once('close', code => {
      running.delete(child);
      resolve({ code, startedAt, exitedAt });
    });
  });
  return { pid, exit, kill: () => killGroup(child) };
}

/** Milliseconds from the start of a process to its end. */
export async function lifeOf(args: readonly string[], options: NodeProcessOptions = {}): Promise<number> {
  const { code, startedAt, exitedAt } = await startNode(args, options).exit;
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
  return exitedAt - startedAt;
}

/** Milliseconds of CPU that the process took so far; undefined where the system does not say. */
export function cpuMsOf(pid: number): number | undefined {
  try {
    // The name may contain spaces and is in parentheses; utime and stime are the 14th and 15th field, in 1/100 s.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return undefined;
  }
}

function killGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has just ended by itself.
  }
}
