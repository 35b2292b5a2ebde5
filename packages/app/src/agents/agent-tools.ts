import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  cutFiltered,
  type ErrorEnvelope,
  err,
  failure,
  type Json,
  ok,
  type Result,
  type SecretFilter,
  type SessionId,
  timestampOf,
} from '@signalbox/model';
import type { Assignment, McpServerOffer, TaskError } from '@signalbox/runs';
import {
  type AnyTool,
  type CheckpointLog,
  checkHeldCall,
  checkpointUnknown,
  createExecutionState,
  createResources,
  createRunCommand,
  createSession,
  createToolRunner,
  detectSandbox,
  editFile,
  filesystem,
  findLayers,
  globFiles,
  grepFiles,
  type HeldChanges,
  type HeldCheck,
  type HeldChoice,
  type HostFilesystem,
  heldCall,
  heldCallNow,
  heldIn,
  type KeptBook,
  layersOrCopies,
  listFiles,
  openCheckpointStore,
  openHostCheckpointLog,
  openHostContentStore,
  openHostFilesystem,
  openHostUndoLog,
  type PathLocks,
  type Recovery,
  type RootIdentity,
  readFile,
  recoverPending,
  resource,
  rootAt,
  type SandboxDetection,
  settleHeldCall,
  type ToolOutcome,
  type ToolRunner,
  writeFile,
} from '@signalbox/state';
import { diffOfHeld } from '../decisions/held-diff.ts';
import type { Machine } from '../machine.ts';
import type { McpTools } from '../mcp-servers/open-mcp-tools.ts';
import { openHostPathLocks } from '../path-locks/host-path-locks.ts';
import { openAcceptedRules } from '../sandbox/accepted-rules.ts';
import { readCommandSettings } from '../sandbox/command-config.ts';
import { withUnconfinedHint } from '../sandbox/unconfined-hint.ts';
import { checkpointFolder, placeFile, readPlace, recordKept, type TaskPlace } from '../undo/checkpoint-files.ts';

/** How long the check of an agent's changes may take. */
const CHECK_MS = 1_800_000;

/** The tools of agents on their directories. Every call is a transaction whose traces are in the data directory. */
export interface AgentTools {
  /** `more` is offered besides the tools at hand. */
  open(
    assignment: Pick<Assignment, 'run' | 'task' | 'directory'>,
    more?: readonly AnyTool[],
  ): Promise<Result<ToolBench, ErrorEnvelope>>;
  /** The sandbox of this machine, looked for once. */
  sandbox(): Promise<SandboxDetection>;
  /** Runs a program, as `run_command` does. */
  commands(): Promise<AnyTool>;
  /** The tools of MCP servers, for one attempt of an agent. */
  servers(
    servers: readonly McpServerOffer[],
    assignment: Pick<Assignment, 'run' | 'task' | 'directory'>,
    env: Readonly<Record<string, string | undefined>>,
  ): Promise<Result<McpTools, TaskError>>;
  /** The tools that agents have on every directory. */
  atHand(): Promise<readonly AnyTool[]>;
  /**
   * A directory that can be captured and brought back, and who may use it now. With `place`, the one that was there then: if it is
   * another one now, nothing of it is read or written.
   */
  files(root: string, place?: RootIdentity): Result<HostFilesystem, ErrorEnvelope>;
  readonly locks: PathLocks;
  /** The folder with the checkpoints of a run's tool calls. */
  checkpoints(run: string): string;
  /** Undoes what calls had begun when their process died. Before any other call. */
  recover(isTaskOver?: (run: string, task: string) => Promise<boolean>): Promise<readonly Recovery[]>;
}

interface ToolBench {
  readonly runner: ToolRunner;
  readonly tools: readonly AnyTool[];
  /** What became of a call that had begun when its process died: it was undone, unless its checkpoint says that it succeeded. */
  fateOf(call: string): Promise<'committed' | 'undone' | 'held'>;
  /** Changes of a call that met somebody else's, and what to do about them. */
  held(call: string): HeldChanges | undefined;
  heldNow(call: string): ReturnType<typeof heldCallNow>;
  /** The files of held changes against those of the directory now. */
  heldDiff(call: string): Promise<string>;
  check(call: string, command: string, signal: AbortSignal): Promise<HeldCheck>;
  settle(call: string, choice: HeldChoice, by: 'person' | 'plan'): Promise<ToolOutcome | undefined>;
  close(): Promise<void>;
}

export function openAgentTools(
  dataDirectory: string,
  machine: Machine,
  secrets?: Pick<SecretFilter, 'text' | 'settled'>,
  detect = detectSandbox,
  find = findLayers,
): AgentTools {
  const place = (name: string) => path.join(dataDirectory, name);
  const store = openHostContentStore(place('blobs'));
  const undoLog = openHostUndoLog(place('undo'));
  const locks: PathLocks = openHostPathLocks(place('locks'));
  let sandbox: Promise<SandboxDetection> | undefined;
  const checkpointsOf = (run: string) => checkpointFolder(dataDirectory, run);
  const layers = layersOrCopies(place('layers'), find);
  const keptBook: KeptBook = {
    async add({ evaluation, ...entry }) {
      recordKept(place('checkpoints'), evaluation, { ...entry, at: timestampOf(machine.clock) });
    },
  };
  const openFiles = (root: string, expected?: RootIdentity): Result<HostFilesystem, ErrorEnvelope> =>
    openHostFilesystem({ root, expected, store, undoLog, dataDirectory, keptBook, layers });

  /** Finishes what was cut short, everywhere or in one directory. */
  const recoverIn = (root?: string): Promise<readonly Recovery[]> =>
    recoverPending({
      undoLog,
      locks,
      ...(root !== undefined && { root }),
      open: at => openFiles(at),
      async onRecovered({ id, tool, evaluation, outcome }, { root: at, before }) {
        const kept = 'kept' in outcome ? outcome.kept : null;
        if (kept === null || before === null) return;
        await keptBook.add({ call: id, tool, evaluation, root: at, before, kept });
      },
    });

  const detected = () => (sandbox ??= detect());

  const commands = async () => commandTool(dataDirectory, await detected());
  const atHand = async (): Promise<readonly AnyTool[]> => {
    const command = await commands();
    return [readFile, writeFile, editFile, listFiles, globFiles, grepFiles, command];
  };

  return {
    commands,
    async servers(servers, { run, task, directory }, env) {
      // Their library is loaded when the first one is used.
      const { openMcpTools } = await import('../mcp-servers/open-mcp-tools.ts');
      const settings = readCommandSettings(dataDirectory);
      return openMcpTools(
        servers,
        { directory },
        {
          ...{ dataDirectory, env },
          sandbox: await detected(),
          allowUnconfined: settings.ok && settings.value.allowUnconfined,
          clean: secrets?.text ?? String,
          memory: path.join(checkpointsOf(run), `${task}.mcp.json`),
        },
      );
    },
    atHand,
    sandbox: detected,
    async open({ run, task, directory }, more = []) {
      const folder = checkpointsOf(run);
      const root = readPlace(folder, task)?.place ?? rootAt(directory);
      const files = openFiles(directory, root);
      if (!files.ok) return files;
      const resources = createResources([resource(filesystem, files.value)]);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const log = withoutSecrets(openHostCheckpointLog(path.join(folder, `${task}.jsonl`)), secrets);
      const checkpoints = await openCheckpointStore({ log, resources });
      if (!checkpoints.ok) return checkpoints;
      const tools = [...(await atHand()), ...more];
      const beyond = tools.filter(reachesBeyond).map(({ name }) => name);
      const own: TaskPlace = { root: directory, beyond, ...(root && { place: root }) };
      writeFileSync(path.join(folder, placeFile(task)), JSON.stringify(own), { mode: 0o600 });
      const { clock, ids, rng } = machine;
      const session = createSession({ id: ids.mint<SessionId>(), clock });
      const state = createExecutionState({
        ...{ session, resources, clock, ids, rng },
        checkpoints: checkpoints.value,
        ...(secrets && { clean: secrets.text, cut: (text, most) => cutFiltered(secrets, text, most) }),
      });
      return ok({
        tools,
        runner: createToolRunner({ state, tools, locks, undoLog, evaluation: task, recover: recoverIn }),
        async fateOf(call) {
          if (heldCall(state, call) !== undefined) return 'held';
          return checkpoints.value.get(call)?.outcome === 'succeeded' ? 'committed' : 'undone';
        },
        held: call => heldCall(state, call),
        heldNow: call => heldCallNow(state, call),
        async heldDiff(call) {
          const held = heldCall(state, call);
          return held === undefined ? '' : (secrets?.text ?? String)(await diffOfHeld(place('layers'), held));
        },
        async check(callId, command, signal) {
          const tool = commandTool(dataDirectory, await detected());
          const input = { command: ['/bin/sh', '-c', command], timeoutMs: CHECK_MS };
          const checked = await checkHeldCall({ state, callId, tool, input, signal });
          if (secrets === undefined || !('value' in checked) || checked.value === undefined) return checked;
          return { ...checked, value: JSON.parse(secrets.text(JSON.stringify(checked.value))) as Json };
        },
        async settle(call, choice, by) {
          const tool = tools.find(({ name }) => name === heldCall(state, call)?.call.tool);
          if (tool === undefined) return failedToSettle(checkpointUnknown(call, 'pre'));
          const settled = await settleHeldCall({ state, locks, tool, callId: call, choice, by });
          if (settled.ok) return settled.value;
          return settled.error.code === 'state/conflict' ? undefined : failedToSettle(settled.error);
        },
        close: async () => {},
      });
    },
    files: openFiles,
    locks,
    checkpoints: checkpointsOf,
    async recover(isTaskOver = async () => false) {
      const recoveries = await recoverIn();
      // Nobody can decide any more about the changes of work that is over, or of a run that was collected.
      for (const { layer, call } of heldIn(layers.home)) {
        const run = call.evaluation === undefined ? undefined : runOfTask(place('checkpoints'), call.evaluation);
        const isOver = run === undefined || (await isTaskOver(run, call.evaluation ?? ''));
        if (isOver) layers.remove(layer);
      }
      // What could not be recovered may need its layer.
      const pending = await undoLog.pending();
      const needed = new Set(pending.flatMap(({ work }) => (work.kind === 'layer' ? [work.layer] : [])));
      const told = new Set(recoveries.map(({ id }) => id));
      const dropped = layers.sweep(needed).filter(({ id }) => !told.has(id));
      return [
        ...recoveries,
        ...dropped.map(({ isUntouched, ...call }) => ({ ...call, outcome: { kind: 'dropped' as const, isUntouched } })),
      ];
    },
  };
}

/** A line is JSON: what is known of a secret includes how it is written there, and a mark needs no escape. */
function withoutSecrets(log: CheckpointLog, secrets: Pick<SecretFilter, 'text'> | undefined): CheckpointLog {
  if (secrets === undefined) return log;
  return {
    ...log,
    append: (line, options) => log.append(secrets.text(line), options),
    rewrite: lines => log.rewrite(lines.map(secrets.text)),
  };
}

function runOfTask(folder: string, task: string): string | undefined {
  const runs = existsSync(folder) ? readdirSync(folder) : [];
  return runs.find(run => existsSync(path.join(folder, run, placeFile(task))));
}

function failedToSettle({ message, suggestion }: ErrorEnvelope): ToolOutcome {
  const error = failure('tool/failed', { message, suggestion });
  return { status: 'failed', error, rollback: { kind: 'nothing-to-undo' } };
}

/**
 * Commands are confined, and then what they did can be undone. Where the machine cannot do that they are refused, unless the
 * configuration says that they may run all the same; then each of them is a risk that a person decides on.
 */
function commandTool(dataDirectory: string, sandbox: SandboxDetection): AnyTool {
  const { rulesFor } = openAcceptedRules(dataDirectory);
  if (sandbox.ok) return createRunCommand({ sandbox: async () => sandbox, rules: rulesFor });
  const settings = readCommandSettings(dataDirectory);
  if (settings.ok && settings.value.allowUnconfined) return createRunCommand({ unconfined: true });
  return createRunCommand({ sandbox: async () => err(withUnconfinedHint(sandbox.error)) });
}

/** Whether a tool changes files and may do more, which no restore of its directory brings back. */
function reachesBeyond({ effects }: AnyTool): boolean {
  return effects.kind === 'files' && effects.beyond === true;
}
