import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import * as z from 'zod';
import { defineTool, fail, succeed, type ToolReply } from '../tool.ts';

const MAX_OUTPUT = 64 << 10;
const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 3_600_000;

const PIPE_PATIENCE_MS = 500;
const GROUP_PATIENCE_MS = 200;
const GROUP_POLL_MS = 5;

interface Said {
  readonly text: string;
  readonly truncated: boolean;
}

const output = z.strictObject({ exitCode: z.int(), output: z.string(), truncated: z.boolean() });
type Output = z.infer<typeof output>;

/**
 * Runs a program in the working directory. A command that ends with another code than 0 has failed, and what it did is
 * undone.
 *
 * The program leads a process group of its own. When the call ends, for whatever reason, the whole group is killed, so
 * that nothing of it writes on.
 */
export const runCommand = defineTool({
  name: 'run_command',
  description:
    'Runs a program with arguments in the working directory. What it changed is undone unless it exits with 0.',
  input: z.strictObject({
    command: z.array(z.string()).min(1).max(1000).describe('The program and its arguments; no shell reads them.'),
    timeoutMs: z.int().positive().max(MAX_TIMEOUT_MS).default(DEFAULT_TIMEOUT_MS),
    env: z.record(z.string(), z.string()).default({}),
  }),
  output,
  risk: 'high',
  effects: { kind: 'files' },
  async handler({ command, timeoutMs, env }, { root, signal }): Promise<ToolReply<Output>> {
    if (root === null) return fail('there is no directory on the host to run a command in');
    const [program = '', ...args] = command;
    const child = spawn(program, args, {
      cwd: root,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR, LANG: 'C.UTF-8', ...env },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = await ending(child, timeoutMs, signal);
    if (ended.kind === 'not started') return fail(`${program} could not be started: ${ended.reason}`);
    const { text, truncated } = ended;
    if (ended.kind === 'stopped') return fail(`${program} was stopped: ${ended.reason}`, { output: text, truncated });
    if (ended.exitCode === 0) return succeed({ exitCode: 0, output: text, truncated });
    return fail(`${program} exited with ${ended.exitCode}`, { exitCode: ended.exitCode, output: text, truncated });
  },
});

type Ended =
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'stopped'; readonly reason: string }
  | { readonly kind: 'not started'; readonly reason: string };

async function ending(child: ChildProcess, timeoutMs: number, signal: AbortSignal): Promise<Ended & Said> {
  const said = outputOf(child);
  let reason: string | undefined;
  const stop = (why: string) => {
    reason ??= why;
    killGroup(child);
  };
  const cancel = () => stop('it was canceled');
  const timer = globalThis.setTimeout(() => stop(`it took longer than ${timeoutMs} ms`), timeoutMs);
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  const ended = await new Promise<Ended>(resolve => {
    child.once('error', (cause: NodeJS.ErrnoException) => resolve({ kind: 'not started', reason: cause.code ?? '' }));
    child.once('exit', (code, killedBy) => {
      if (reason !== undefined) resolve({ kind: 'stopped', reason });
      else if (code === null) resolve({ kind: 'stopped', reason: `signal ${killedBy}` });
      else resolve({ kind: 'exited', exitCode: code });
    });
  });
  clearTimeout(timer);
  signal.removeEventListener('abort', cancel);
  if (ended.kind !== 'not started') {
    await groupEnd(child);
    await closed(child);
  }
  return { ...ended, ...said() };
}

/** Kills what is left of the group, and waits until it is gone; not for ever, since nobody may have reaped it. */
async function groupEnd(child: ChildProcess): Promise<void> {
  for (let waited = 0; waited < GROUP_PATIENCE_MS && killGroup(child); waited += GROUP_POLL_MS) {
    await setTimeout(GROUP_POLL_MS);
  }
}

/** Waits for the rest of the output, but not for a process that left the group and still holds the pipes. */
async function closed(child: ChildProcess): Promise<void> {
  const pipes = [child.stdout, child.stderr].filter(pipe => pipe !== null);
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

/** Whether there was still somebody in the group. */
function killGroup(child: ChildProcess): boolean {
  if (child.pid === undefined) return false;
  try {
    return process.kill(-child.pid, 'SIGKILL');
  } catch {
    return false;
  }
}

/** The first bytes of what a program says, on both of its outputs, in the order in which it arrives. */
function outputOf(child: ChildProcess): () => Said {
  const chunks: Buffer[] = [];
  let kept = 0;
  let truncated = false;
  const take = (chunk: Buffer) => {
    const room = MAX_OUTPUT - kept;
    if (chunk.length > room) truncated = true;
    if (room <= 0) return;
    chunks.push(chunk.subarray(0, room));
    kept += Math.min(room, chunk.length);
  };
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
  return () => ({ text: Buffer.concat(chunks).toString('utf8'), truncated });
}
