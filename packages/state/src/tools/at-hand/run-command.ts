import { err, ok, type Result } from '@signalbox/model';
import * as z from 'zod';
import { LayerRefused, OtherLayerNeeded } from '../../layers/layer.ts';
import { type CommandLimits, DEFAULT_LIMITS, describeLimit } from '../../sandbox/command-limits.ts';
import { harmlessEnv } from '../../sandbox/command-sandbox.ts';
import type { SandboxDetection } from '../../sandbox/detect-sandbox.ts';
import { dropPrivileges } from '../../sandbox/privileged-files.ts';
import { type CommandEnd, type RunningCommand, startInGroup } from '../../sandbox/running-command.ts';
import { NO_RULES, type ProjectRules, type SandboxRulesError } from '../../sandbox/sandbox-rules.ts';
import { type AnyTool, defineTool, fail, succeed, type ToolContext, type ToolReply } from '../tool.ts';

const MAX_OUTPUT = 64 << 10;
/** Kept to detect the beginning of a secret at the end. */
const BEYOND = 16 << 10;
const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 3_600_000;

const plainText = z.string().regex(/^[^\0]*$/, 'it must not contain a null character');
const variableName = z.string().regex(/^[^\0=]+$/, 'it must be a name');
const input = z.strictObject({
  command: z.array(plainText).min(1).max(1000).describe('The program and its arguments; no shell interprets them.'),
  timeoutMs: z.int().positive().max(MAX_TIMEOUT_MS).default(DEFAULT_TIMEOUT_MS),
  env: z.record(variableName, plainText).default({}),
});
const output = z.strictObject({
  exitCode: z.int(),
  output: z.string(),
  truncated: z.boolean(),
  /** The project file, and its version, that allowed the command more. */
  widenedBy: z.strictObject({ file: z.string(), digest: z.string() }).optional(),
});
type Output = z.infer<typeof output>;

/**
 * Where the command runs: in a sandbox, which is looked up once, at the first call, and without which every call is refused;
 * or unconfined, if configured, with all of our rights.
 */
export type RunCommandOptions =
  | {
      readonly sandbox: () => Promise<SandboxDetection>;
      /** What a directory's project additionally allows its commands; checked before each one. Nothing by default. */
      readonly rules?: (root: string) => Result<ProjectRules | undefined, SandboxRulesError>;
      readonly unconfined?: never;
    }
  | { readonly unconfined: true; readonly sandbox?: never };

/**
 * Runs a program in the working directory. A command that exits with a code other than 0 has failed, and its changes under
 * the root are undone; in a sandbox it cannot have other effects.
 */
export function createRunCommand(options: RunCommandOptions): AnyTool {
  const { sandbox } = options;
  if (sandbox === undefined) {
    return defineTool({
      ...COMMON,
      description: `${DESCRIPTION} It is not confined: its effects elsewhere stay.`,
      risk: 'high',
      effects: { kind: 'files', beyond: true },
      handler: ({ command, timeoutMs, env }, { root, signal, cut }) =>
        root === null
          ? NO_DIRECTORY
          : answer(command, startInGroup(command, { cwd: root, env: unconfinedEnv(env) }), { timeoutMs, signal, cut }),
    });
  }
  const rulesOf = options.rules ?? (() => ok(undefined));
  let detection: Promise<SandboxDetection> | undefined;
  const detected = () => {
    detection ??= sandbox();
    return detection;
  };
  return defineTool({
    ...COMMON,
    description: `${DESCRIPTION} It can write only there, and has no network.`,
    risk: 'medium',
    effects: { kind: 'files', onLayer: true },
    async ready(root) {
      const found = await detected();
      if (!found.ok) return err(found.error);
      const rules = root === null ? ok(undefined) : rulesOf(root);
      return rules.ok ? ok(undefined) : err(rules.error);
    },
    async handler(
      { command, timeoutMs, env },
      { root, refused, signal, layer, cut }: ToolContext,
    ): Promise<ToolReply<Output>> {
      if (root === null) return NO_DIRECTORY;
      const found = await detected();
      if (!found.ok) return fail(found.error.message);
      const project = rulesOf(root);
      if (!project.ok) return fail(project.error.message);
      const { rules = NO_RULES } = project.value ?? {};
      const startedAt = Date.now();
      const running = found.value.start({ command, root, refused, env, rules, ...(layer && { layer }) });
      const replied = await answer(command, running, { timeoutMs, signal, cut, limits: rules.limits });
      if (layer === undefined) dropPrivileges(root, startedAt, refused);
      return project.value === undefined ? replied : widened(replied, project.value);
    },
  });
}

const DESCRIPTION =
  'Runs a program with arguments in the working directory. Its changes there are undone unless it exits with 0.';
const COMMON = { name: 'run_command', input, output } as const;
const NO_DIRECTORY = fail('there is no directory on the host to run a command in');

/** Unconfined programs get our home, but not our other variables. */
function unconfinedEnv(env: Readonly<Record<string, string>>): Record<string, string> {
  const { HOME = '/', TMPDIR = '/tmp' } = process.env;
  return { ...harmlessEnv(HOME, TMPDIR), ...env };
}

function widened(reply: ToolReply<Output>, { file, digest }: ProjectRules): ToolReply<Output> {
  return reply.success ? { ...reply, value: { ...reply.value, widenedBy: { file, digest } } } : reply;
}

interface Bounds {
  readonly cut: ToolContext['cut'];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly limits?: CommandLimits;
}

async function answer(
  command: readonly string[],
  running: RunningCommand,
  { timeoutMs, signal, cut, limits = DEFAULT_LIMITS }: Bounds,
): Promise<ToolReply<Output>> {
  const program = command[0];
  const said = firstOf(running, cut);
  const limitMs = limits.seconds * 1000;
  const late = limitMs < timeoutMs ? describeLimit('time', limits) : `it took longer than ${timeoutMs} ms`;
  const { ended, stopped } = await endWithin(running, Math.min(timeoutMs, limitMs), late, signal);
  if (ended.kind === 'no layer') throw new LayerRefused(ended.reason);
  if (ended.kind === 'other layer') throw new OtherLayerNeeded();
  if (ended.kind === 'not started') return fail(`${program} could not be started: ${ended.reason}`);
  const { text, truncated } = said();
  if (stopped !== undefined) return fail(`${program} was stopped: ${stopped}`, { output: text, truncated });
  if (ended.kind === 'limit') {
    const told = { output: text, truncated, limit: ended.limit };
    return fail(`${program} was stopped: ${describeLimit(ended.limit, limits)}`, told);
  }
  if (ended.kind === 'killed')
    return fail(`${program} was stopped: signal ${ended.signal}`, { output: text, truncated });
  if (ended.exitCode === 0) return succeed({ exitCode: 0, output: text, truncated });
  return fail(`${program} exited with ${ended.exitCode}`, { exitCode: ended.exitCode, output: text, truncated });
}

async function endWithin(
  running: RunningCommand,
  timeoutMs: number,
  late: string,
  signal: AbortSignal,
): Promise<{ readonly ended: CommandEnd; readonly stopped: string | undefined }> {
  let stopped: string | undefined;
  const stop = (why: string) => {
    stopped ??= why;
    running.kill();
  };
  const cancel = () => stop('it was canceled');
  const timer = setTimeout(() => stop(late), timeoutMs);
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  const ended = await running.ended;
  clearTimeout(timer);
  signal.removeEventListener('abort', cancel);
  return { ended, stopped };
}

/** The first bytes of a program's output. */
function firstOf(
  running: RunningCommand,
  cut: ToolContext['cut'],
): () => { readonly text: string; readonly truncated: boolean } {
  const chunks: Buffer[] = [];
  let said = 0;
  running.onOutput(chunk => {
    const room = MAX_OUTPUT + BEYOND - said;
    if (room > 0) chunks.push(chunk.subarray(0, room));
    said += chunk.length;
  });
  return () => {
    const text = Buffer.concat(chunks).toString('utf8');
    if (said <= MAX_OUTPUT) return { text, truncated: false };
    const first = Buffer.from(cut(text, MAX_OUTPUT));
    return { text: first.subarray(0, MAX_OUTPUT).toString('utf8'), truncated: true };
  };
}
