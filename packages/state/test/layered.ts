import * as fs from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { FakeClock } from '@signalbox/testkit';
import type { UndoLog } from '../src/filesystem/undo-log.ts';
import {
  type CheckpointStore,
  createPathLocks,
  createResources,
  createRunCommand,
  detectSandbox,
  type ExecutionState,
  filesystem,
  findLayers,
  type HostFiles,
  type HostFilesystem,
  type Layers,
  nodeHostFiles,
  openCheckpointStore,
  openHostCheckpointLog,
  openHostContentStore,
  openHostFilesystem,
  openHostUndoLog,
  type PathLocks,
  type Recovery,
  recoverPending,
  resource,
  type ToolOutcome,
  type ToolRunner,
} from '../src/index.ts';
import { createTestRunner, createTestState, must } from './builders.ts';

export const sandbox = await detectSandbox();
/** Whether commands can run on layers here. */
export const hasLayers = sandbox.ok && sandbox.value.name === 'bubblewrap' && findLayers('/tmp').ok;

export const commandTool = createRunCommand({ sandbox: async () => sandbox });

/** A directory that commands work in, with everything durable beside it. */
export interface LayeredPlace {
  readonly root: string;
  readonly data: string;
  readonly files: HostFilesystem;
  readonly state: ExecutionState;
  readonly clock: FakeClock;
  readonly checkpoints: CheckpointStore;
  readonly locks: PathLocks;
  readonly undoLog: UndoLog;
  readonly runner: ToolRunner;
  run(script: string, options?: RunOptions): Promise<ToolOutcome>;
  recover(): Promise<readonly Recovery[]>;
}

interface RunOptions {
  /** What the command does before it waits for the person. */
  readonly first?: string;
  /** What the person does while the command runs: it has begun, and does not go on before this is done. */
  readonly meanwhile?: () => unknown;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

export async function openLayered(
  directory: string,
  options: {
    readonly root?: string;
    readonly data?: string;
    readonly files?: HostFiles;
    readonly layers?: Layers;
  } = {},
): Promise<LayeredPlace> {
  const { root = `${directory}/root`, data = `${directory}/data`, files: port = nodeHostFiles } = options;
  for (const one of [root, data, `${data}/layers`]) fs.mkdirSync(one, { recursive: true });
  const layers = options.layers ?? must(findLayers(`${data}/layers`));
  const undoLog = openHostUndoLog(`${data}/undo`, port);
  const store = openHostContentStore(`${data}/blobs`, port);
  const open = (at: string) =>
    openHostFilesystem({ root: at, store, undoLog, dataDirectory: data, layers, files: port });
  const files = must(open(root));
  const log = openHostCheckpointLog(`${data}/checkpoints.jsonl`, port);
  const checkpoints = must(
    await openCheckpointStore({ log, resources: createResources([resource(filesystem, files)]) }),
  );
  const { state, clock } = createTestState({ files, checkpoints });
  const locks = createPathLocks();
  const runner = createTestRunner(state, {
    tools: [commandTool],
    locks,
    undoLog,
  });
  let calls = checkpoints.list().length;
  return {
    ...{ root, data, files, state, clock, checkpoints, locks, undoLog, runner },
    async run(script, { first = ':', meanwhile, signal, timeoutMs } = {}) {
      const known = new Set(begunIn(`${data}/layers`));
      const command = ['sh', '-c', meanwhile === undefined ? script : `${first}\n${PAUSE}\n${script}`];
      if (meanwhile !== undefined) fs.writeFileSync(`${root}/${GO}`, '');
      const call = { id: `call-${++calls}`, name: 'run_command', input: { command, ...(timeoutMs && { timeoutMs }) } };
      const outcome = runner.execute(call, signal === undefined ? {} : { signal });
      if (meanwhile !== undefined) {
        await begun(`${data}/layers`, known);
        await meanwhile();
        fs.appendFileSync(`${root}/${GO}`, 'go');
      }
      const result = must(await outcome);
      if (meanwhile !== undefined) fs.rmSync(`${root}/${GO}`);
      return result;
    },
    recover: () => recoverPending({ undoLog, locks, open, files: port }),
  };
}

const GO = '.go';
/** Says that the command runs, where nobody but us sees it, and waits for the person. */
const PAUSE = `: > .begun; until [ -s ${GO} ]; do sleep 0.01; done; rm .begun`;

function begunIn(layers: string): readonly string[] {
  return fs.readdirSync(layers).filter(name => fs.existsSync(`${layers}/${name}/upper/.begun`));
}

/** The layers that somebody worked on. One that is made ahead for the next call is not among them. */
export function usedLayers(layers: string): readonly string[] {
  return fs
    .readdirSync(layers)
    .filter(name => fs.existsSync(`${layers}/${name}/call.json`) || isWritten(`${layers}/${name}`));
}

function isWritten(layer: string): boolean {
  return fs.existsSync(`${layer}/upper`) && fs.readdirSync(`${layer}/upper`).length > 0;
}

/** Waits until a command has begun on a layer that was not there before. */
export async function begun(layers: string, known: ReadonlySet<string>): Promise<string> {
  for (;;) {
    const found = begunIn(layers).find(name => !known.has(name));
    if (found !== undefined) return found;
    await setTimeout(2);
  }
}
