import type { ChildProcess, SpawnOptions } from 'node:child_process';
import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { startProgram } from '../programs/start-program.ts';
import type { LimitName } from './command-limits.ts';

/** A program that was started. */
export interface RunningCommand {
  /** Its output from both streams, in order of arrival. Call this immediately. */
  onOutput(take: (chunk: Buffer) => void): void;
  /** Kills it with everything it started. */
  kill(): void;
  /** Settles once all its processes are gone and all output was delivered. Never rejects. */
  readonly ended: Promise<CommandEnd>;
}

export type CommandEnd =
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'killed'; readonly signal: string }
  /** It was killed because it exceeded a limit. */
  | { readonly kind: 'limit'; readonly limit: LimitName }
  | { readonly kind: 'not started'; readonly reason: string }
  /** Its layer could not be mounted. */
  | { readonly kind: 'no layer'; readonly reason: string }
  /** Its layer was prepared for other options. Nothing was run: it needs another layer. */
  | { readonly kind: 'other layer' };

const PIPE_PATIENCE_MS = 500;
const GROUP_PATIENCE_MS = 200;
const GROUP_POLL_MS = 5;

/**
 * Starts a program in its own process group. Once it has ended, for whatever reason, the whole group is killed; processes
 * that left the group are not.
 */
export function startInGroup(
  command: readonly string[],
  options: Pick<SpawnOptions, 'cwd' | 'env'>,
  atEnd: () => void = () => {},
): RunningCommand {
  const [program = '', ...args] = command;
  const child = startProgram(program, args, { ...options, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  return {
    onOutput: take => handOver(child, take),
    kill: () => void killGroup(child),
    ended: groupEnding(child).finally(atEnd),
  };
}

export function notStarted(reason: string): RunningCommand {
  return { onOutput() {}, kill() {}, ended: Promise.resolve({ kind: 'not started', reason }) };
}

export function handOver(child: ChildProcess, take: (chunk: Buffer) => void): void {
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
}

/** Settles once the group is gone and the rest of `pipes` was delivered. */
export async function groupEnding(child: ChildProcess, pipes = [child.stdout, child.stderr]): Promise<CommandEnd> {
  const ended = await new Promise<CommandEnd>(resolve => {
    child.once('error', (cause: NodeJS.ErrnoException) =>
      resolve({ kind: 'not started', reason: cause.code ?? cause.message }),
    );
    child.once('exit', (exitCode, signal) =>
      resolve(exitCode === null ? { kind: 'killed', signal: String(signal) } : { kind: 'exited', exitCode }),
    );
  });
  if (ended.kind === 'not started') return ended;
  // Nobody may reap the killed processes, so the wait is bounded.
  for (let waited = 0; waited < GROUP_PATIENCE_MS && killGroup(child); waited += GROUP_POLL_MS) {
    await setTimeout(GROUP_POLL_MS);
  }
  await closed(pipes.filter(pipe => pipe !== null));
  return ended;
}

/** Waits for the rest of the output, but not for a process that left the group and still holds the pipes. */
async function closed(pipes: readonly Readable[]): Promise<void> {
  let forget: NodeJS.Timeout | undefined;
  const patience = new Promise<void>(resolve => {
    forget = globalThis.setTimeout(resolve, PIPE_PATIENCE_MS);
  });
  const ends = pipes.map(
    pipe => new Promise<void>(resolve => (pipe.closed ? resolve() : pipe.once('close', () => resolve()))),
  );
  await Promise.race([Promise.all(ends), patience]);
  clearTimeout(forget);
  for (const pipe of pipes) pipe.destroy();
}

/** Whether the group still had a process. */
export function killGroup(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): boolean {
  if (child.pid === undefined) return false;
  try {
    return process.kill(-child.pid, signal);
  } catch {
    return false;
  }
}
