import { createIdSource, type Json, ok, type Result, type RunId, type SessionId } from '@signalbox/model';
import { type Assignment, nodeKey, taskIdOf } from '@signalbox/runs';
import {
  type AnyTool,
  createCheckpointStore,
  createExecutionState,
  createMemoryFilesystem,
  createPathLocks,
  createResources,
  createSession,
  createToolRunner,
  defineTool,
  editFile,
  filesystem,
  readFile,
  resource,
  succeed,
  type Timers,
  writeFile,
} from '@signalbox/state';
import { fakeClock, type ModelServer, type ModelVendor, seededRng } from '@signalbox/testkit';
import * as z from 'zod';
import {
  type AgentTools,
  type BuiltinRunnerOptions,
  createBuiltinRunner,
  createModelSource,
  type ModelEnvironment,
} from '../src/builtin/index.ts';

export const KEY = 'key-that-nobody-may-see';
const run = '0190a5b0-0000-7000-8000-000000000001' as RunId;
const node = nodeKey.parse('builder');

export const vendors: readonly { readonly vendor: ModelVendor; readonly model: string }[] = [
  { vendor: 'anthropic', model: 'anthropic:claude-sonnet-5-5' },
  { vendor: 'openai-responses', model: 'openai:gpt-6.1-sol' },
  { vendor: 'openai-chat', model: 'openai-chat:gpt-5' },
  { vendor: 'google', model: 'google:gemini-3.5-flash' },
];

export function environmentOf(server: Pick<ModelServer, 'url'>): ModelEnvironment {
  const access = { key: KEY, baseUrl: server.url };
  return { anthropic: access, openai: access, google: access };
}

export function assignmentOf(fields: Partial<Assignment> = {}): Assignment {
  return {
    run,
    node,
    task: taskIdOf(run, node, 0, 'signature'),
    iteration: 0,
    attempt: 1,
    vendor: 'any',
    prompt: 'Build it.',
    permissions: 'skip',
    maxTurns: 10,
    resume: 'continue',
    directory: '/work',
    planDirectory: '/plans',
    ...fields,
  };
}

/** Files in memory, the tools at hand for them, and one whose effects lie outside. They outlive attempts. */
export interface World {
  readonly tools: readonly AnyTool[];
  readonly opened: () => number;
  open(): Promise<Result<AgentTools, never>>;
  /** How often each tool really ran. */
  readonly runs: Record<string, number>;
  read(path: string): Promise<string | undefined>;
}

export function createWorld(options: { readonly knowsFate?: boolean; readonly more?: readonly AnyTool[] } = {}): World {
  const clock = fakeClock();
  const ids = createIdSource(clock, seededRng(1));
  const files = createMemoryFilesystem();
  const checkpoints = createCheckpointStore();
  const session = createSession({ id: ids.mint<SessionId>(), clock });
  const resources = createResources([resource(filesystem, files)]);
  const state = createExecutionState({ session, resources, clock, ids, checkpoints });
  const runs: Record<string, number> = {};
  const send = defineTool({
    name: 'send_mail',
    description: 'Sends a mail.',
    input: z.strictObject({ to: z.string() }),
    output: z.strictObject({ sent: z.string() }),
    risk: 'medium',
    effects: { kind: 'external' },
    handler: ({ to }) => succeed({ sent: to }),
  });
  const command = defineTool({
    name: 'run_command',
    description: 'Runs a command.',
    input: z.strictObject({ command: z.array(z.string()) }),
    output: z.strictObject({ ran: z.string() }),
    risk: 'high',
    effects: { kind: 'files' },
    handler: ({ command: words }) => succeed({ ran: words.join(' ') }),
  });
  const tools = [readFile, writeFile, editFile, send, command, ...(options.more ?? [])].map(tool =>
    counted(tool, runs),
  );
  const runner = createToolRunner({ state, tools, locks: createPathLocks(), evaluation: 'test' });
  let open = 0;
  return {
    tools,
    runs,
    opened: () => open,
    async open() {
      open++;
      return ok({
        runner,
        tools,
        ...(options.knowsFate !== false && {
          fateOf: async (call: string) => (checkpoints.getPostSnapshot(call) === null ? 'undone' : 'committed'),
        }),
        async close() {
          open--;
        },
      } satisfies AgentTools);
    },
    async read(path) {
      const content = await files.read(path);
      return content.ok ? new TextDecoder().decode(content.value) : undefined;
    },
  };
}

function counted(tool: AnyTool, runs: Record<string, number>): AnyTool {
  return {
    ...tool,
    handler(input, context) {
      runs[tool.name] = (runs[tool.name] ?? 0) + 1;
      return tool.handler(input, context);
    },
  };
}

export function createTestRunner(
  options: Partial<BuiltinRunnerOptions> & { readonly world?: World; readonly environment?: ModelEnvironment },
) {
  const { world = createWorld(), environment = { anthropic: {}, openai: {}, google: {} }, ...rest } = options;
  const clock = options.clock ?? fakeClock();
  return createBuiltinRunner({
    modelOf: createModelSource(environment),
    toolsFor: () => world.open(),
    clock,
    ids: createIdSource(clock, seededRng(2)),
    timers: idleTimers(),
    ...rest,
  });
}

/** Timers that fire only when they are told to. */
export function idleTimers(): Timers & {
  fire(): void;
  readonly waiting: number;
  /** Resolves when something waits for this long. */
  isWaiting(ms: number): Promise<void>;
} {
  const waiting = new Map<() => void, number>();
  const watchers: { readonly ms: number; readonly resolve: () => void }[] = [];
  return {
    after(ms, work) {
      waiting.set(work, ms);
      for (const watcher of watchers) if (watcher.ms === ms) watcher.resolve();
      return () => waiting.delete(work);
    },
    fire() {
      for (const work of [...waiting.keys()]) {
        waiting.delete(work);
        work();
      }
    },
    get waiting() {
      return waiting.size;
    },
    isWaiting(ms) {
      if ([...waiting.values()].includes(ms)) return Promise.resolve();
      return new Promise(resolve => watchers.push({ ms, resolve }));
    },
  };
}

/** The kinds of a transcript, in order. */
export function kindsOf(kept: readonly Json[]): readonly string[] {
  return kept.map(entry => (entry as { kind: string }).kind);
}

/** A transcript without what two calls of a model never share: ids of vendors and times. */
export function comparable(kept: readonly Json[]): Json {
  return JSON.parse(
    JSON.stringify(kept, (key, value) =>
      ['toolCallId', 'itemId', 'wallMs', 'ms', 'providerOptions'].includes(key) ? undefined : value,
    ),
  );
}
