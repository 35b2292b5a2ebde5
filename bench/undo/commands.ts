// A command that changes one file in a tree, next to the same command without us.
//
// `moreMs` is what a call costs beyond the bare command, medians of one run in which both are interleaved. `cold` calls begin with
// nothing of the tree in memory: a new filesystem object and, as root, empty caches of the kernel; the programs that start a command
// are read again first. `looking` is a command that looks at every path. Between two calls there is a moment, as a model's answer takes one.
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { createIdSource, type SessionId } from '@signalbox/model';
import {
  type AnyTool,
  createExecutionState,
  createPathLocks,
  createResources,
  createRunCommand,
  createSession,
  createToolRunner,
  detectSandbox,
  filesystem,
  findLayers,
  openCheckpointStore,
  openHostCheckpointLog,
  openHostContentStore,
  openHostFilesystem,
  openHostUndoLog,
  resource,
  type ToolRunner,
} from '@signalbox/state';

const SIZES = [1000, 10_000, 50_000];
const PER_DIRECTORY = 50;
const BETWEEN_MS = 30;

export async function benchCommands(
  base: string,
  rounds: number,
  print: (line: Record<string, unknown>) => void,
): Promise<void> {
  const sandbox = await detectSandbox();
  if (!sandbox.ok) return print({ bench: 'command on a layer', skipped: sandbox.error.message });
  const tool = createRunCommand({ sandbox: async () => sandbox });
  for (const files of SIZES) {
    const directory = fs.mkdtempSync(path.join(base, 'commands-'));
    try {
      const root = `${directory}/tree`;
      plant(root, files);
      const open = async () => openRunner(`${directory}/data`, root, tool);
      const warm = await open();
      const times = new Map<string, number[]>();
      let call = 0;
      const time = async (name: string, work: () => unknown) => {
        await setTimeout(BETWEEN_MS);
        const started = performance.now();
        await work();
        times.set(name, [...(times.get(name) ?? []), performance.now() - started]);
      };
      const ours = async (runner: ToolRunner, command: readonly string[]) => {
        const done = await runner.execute({ id: `${process.pid}-${++call}`, name: 'run_command', input: { command } });
        if (!done.ok || done.value.status !== 'succeeded') throw new Error(JSON.stringify(done));
      };
      const bare = ([program = '', ...args]: readonly string[]) => spawnSync(program, args, { cwd: root });
      for (let round = 0; round < rounds + 3; round++) {
        if (round === 3) times.clear();
        const at = (round * 7) % (files / PER_DIRECTORY);
        const write = ['/bin/sh', '-c', `echo ${round} > ${at}/f${at * PER_DIRECTORY}.txt`];
        const look = ['/bin/sh', '-c', `ls -lR > /dev/null; echo ${round} > ${at}/f${at * PER_DIRECTORY}.txt`];
        await time('bare', () => bare(write));
        await time('ours', () => ours(warm, write));
        if (round % 3 !== 0) continue;
        await time('bare looking', () => bare(look));
        await time('ours looking', () => ours(warm, look));
        const cold = await open();
        dropCaches();
        await time('bare cold', () => bare(write));
        dropCaches();
        await time('ours cold', () => ours(cold, write));
      }
      const median = (name: string) => {
        const all = [...(times.get(name) ?? [])].sort((a, b) => a - b);
        return all[Math.floor(all.length / 2)] ?? 0;
      };
      for (const how of ['', ' cold', ' looking']) {
        const [bareMs, ms] = [median(`bare${how}`), median(`ours${how}`)];
        const allowed = how === ' looking' ? 15 + files * 0.01 : 15;
        print({
          bench: `command on a layer${how}`,
          files,
          changed: 1,
          ms: round(ms),
          bareMs: round(bareMs),
          moreMs: round(ms - bareMs),
          allowed,
        });
      }
    } finally {
      fs.rmSync(directory, { recursive: true, force: true });
    }
  }
}

export function plant(root: string, files: number): void {
  for (let at = 0; at < files / PER_DIRECTORY; at++) {
    fs.mkdirSync(`${root}/${at}`, { recursive: true });
    for (let file = 0; file < PER_DIRECTORY; file++)
      fs.writeFileSync(`${root}/${at}/f${at * PER_DIRECTORY + file}.txt`, `${at} ${file}`);
  }
}

export async function openRunner(data: string, root: string, tool: AnyTool): Promise<ToolRunner> {
  const clock = { now: () => Date.now() };
  const rng = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) };
  const ids = createIdSource(clock, rng);
  fs.mkdirSync(data, { recursive: true });
  const layers = findLayers(`${data}/layers`);
  const undoLog = openHostUndoLog(`${data}/undo`);
  const files = openHostFilesystem({
    ...{ root, store: openHostContentStore(`${data}/blobs`), undoLog, dataDirectory: data },
    ...(layers.ok && { layers: layers.value }),
  });
  if (!files.ok) throw new Error(files.error.message);
  const resources = createResources([resource(filesystem, files.value)]);
  const checkpoints = await openCheckpointStore({ log: openHostCheckpointLog(`${data}/checkpoints.jsonl`), resources });
  if (!checkpoints.ok) throw new Error(checkpoints.error.message);
  const session = createSession({ id: ids.mint<SessionId>(), clock });
  const state = createExecutionState({ session, resources, clock, ids, checkpoints: checkpoints.value });
  return createToolRunner({ state, tools: [tool], locks: createPathLocks(), undoLog, evaluation: 'bench' });
}

function dropCaches(): void {
  spawnSync('sync');
  try {
    fs.writeFileSync('/proc/sys/vm/drop_caches', '3');
  } catch {
    // Only root can.
  }
  for (const program of ['sh', 'unshare', 'mount', 'bwrap']) spawnSync(program, ['--version']);
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
