import { err, ok } from '@signalbox/model';
import * as z from 'zod';
import { LayerRefused } from '../../layers/layer.ts';
import { harmlessEnv } from '../../sandbox/command-sandbox.ts';
import { detectSandbox, type SandboxDetection } from '../../sandbox/detect-sandbox.ts';
import { type CommandEnd, type RunningCommand, startInGroup } from '../../sandbox/running-command.ts';
import { type AnyTool, defineTool, fail, succeed, type ToolContext, type ToolReply } from '../tool.ts';

const MAX_OUTPUT = 64 << 10;
const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 3_600_000;

const plainText = z.string().regex(/^[^\0]*$/, 'it must not hold a null character');
const variableName = z.string().regex(/^[^\0=]+$/, 'it must be a name');
const input = z.strictObject({
  command: z.array(plainText).min(1).max(1000).describe('The program and its arguments; no shell reads them.'),
  timeoutMs: z.int().positive().max(MAX_TIMEOUT_MS).default(DEFAULT_TIMEOUT_MS),
  env: z.record(variableName, plainText).default({}),
});
const output = z.strictObject({ exitCode: z.int(), output: z.string(), truncated: z.boolean() });
type Output = z.infer<typeof output>;

/**
 * Where the command runs: in a sandbox, which is asked for once, when the first call comes, and without which every call is
 * refused; or unconfined, where that is said, as somebody who can do whatever we can.
 */
export type RunCommandOptions =
  | { readonly sandbox: () => Promise<SandboxDetection>; readonly unconfined?: never }
  | { readonly unconfined: true; readonly sandbox?: never };

/**
 * Runs a program in the working directory. A command that ends with another code than 0 has failed, and what it did under
 * the root is undone; in a sandbox it can do nothing else.
 */
export function createRunCommand(options: RunCommandOptions): AnyTool {
  const { sandbox } = options;
  if (sandbox === undefined) {
    return defineTool({
      ...COMMON,
      description: `${DESCRIPTION} It is not confined: what it does elsewhere stays.`,
      risk: 'high',
      effects: { kind: 'files', beyond: true },
      handler: ({ command, timeoutMs, env }, { root, signal }) =>
        root === null
          ? NO_DIRECTORY
          : answer(command, startInGroup(command, { cwd: root, env: unconfinedEnv(env) }), timeoutMs, signal),
    });
  }
  let detection: Promise<SandboxDetection> | undefined;
  const detected = () => {
    detection ??= sandbox();
    return detection;
  };
  return defineTool({
    ...COMMON,
    description: `${DESCRIPTION} It can write there only, and has no network.`,
    risk: 'medium',
    effects: { kind: 'files', onLayer: true },
    async ready() {
      const found = await detected();
      return found.ok ? ok(undefined) : err(found.error);
    },
    async handler(
      { command, timeoutMs, env },
      { root, refused, signal, layer }: ToolContext,
    ): Promise<ToolReply<Output>> {
      if (root === null) return NO_DIRECTORY;
      const found = await detected();
      if (!found.ok) return fail(found.error.message);
      return answer(
        command,
        found.value.start({ command, root, refused, env, ...(layer && { layer }) }),
        timeoutMs,
        signal,
      );
    },
  });
}

const DESCRIPTION =
  'Runs a program with arguments in the working directory. What it changed there is undone unless it exits with 0.';
const COMMON = { name: 'run_command', input, output } as const;
const NO_DIRECTORY = fail('there is no directory on the host to run a command in');

/** In whatever sandbox this machine has. */
export const runCommand = createRunCommand({ sandbox: detectSandbox });

/** Programs that are trusted with our files find our home, but not our other variables. */
function unconfinedEnv(env: Readonly<Record<string, string>>): Record<string, string> {
  const { HOME = '/', TMPDIR = '/tmp' } = process.env;
  return { ...harmlessEnv(HOME, TMPDIR), ...env };
}

async function answer(
  command: readonly string[],
  running: RunningCommand,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<ToolReply<Output>> {
  const program = command[0];
  const said = firstOf(running);
  const { ended, stopped } = await endWithin(running, timeoutMs, signal);
  if (ended.kind === 'no layer') throw new LayerRefused(ended.reason);
  if (ended.kind === 'not started') return fail(`${program} could not be started: ${ended.reason}`);
  const { text, truncated } = said();
  if (stopped !== undefined) return fail(`${program} was stopped: ${stopped}`, { output: text, truncated });
  if (ended.kind === 'killed')
    return fail(`${program} was stopped: signal ${ended.signal}`, { output: text, truncated });
  if (ended.exitCode === 0) return succeed({ exitCode: 0, output: text, truncated });
  return fail(`${program} exited with ${ended.exitCode}`, { exitCode: ended.exitCode, output: text, truncated });
}

async function endWithin(
  running: RunningCommand,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<{ readonly ended: CommandEnd; readonly stopped: string | undefined }> {
  let stopped: string | undefined;
  const stop = (why: string) => {
    stopped ??= why;
    running.kill();
  };
  const cancel = () => stop('it was canceled');
  const timer = setTimeout(() => stop(`it took longer than ${timeoutMs} ms`), timeoutMs);
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  const ended = await running.ended;
  clearTimeout(timer);
  signal.removeEventListener('abort', cancel);
  return { ended, stopped };
}

/** The first bytes of what a program says. */
function firstOf(running: RunningCommand): () => { readonly text: string; readonly truncated: boolean } {
  const chunks: Buffer[] = [];
  let kept = 0;
  let truncated = false;
  running.onOutput(chunk => {
    const room = MAX_OUTPUT - kept;
    if (chunk.length > room) truncated = true;
    if (room <= 0) return;
    chunks.push(chunk.subarray(0, room));
    kept += Math.min(room, chunk.length);
  });
  return () => ({ text: Buffer.concat(chunks).toString('utf8'), truncated });
}
