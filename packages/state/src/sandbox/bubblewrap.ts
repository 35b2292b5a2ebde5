import type { ChildProcess } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import type { Readable, Stream, Writable } from 'node:stream';
import * as z from 'zod';
import { isWithin } from '../filesystem/path-locks.ts';
import type { LayerEntry } from '../layers/layer.ts';
import { quoted } from '../programs/shell-words.ts';
import { startProgram } from '../programs/start-program.ts';
import { type CommandCgroup, makeCgroup } from './cgroup.ts';
import { bytesOf, type CommandLimits, DEFAULT_LIMITS, type LimitName } from './command-limits.ts';
import { COMMAND_STDIO, FILTER_FD, OPTIONS_FD, STATUS_FD } from './command-pipes.ts';
import { type CommandSandbox, type ConfinedCommand, harmlessEnv, passedOn } from './command-sandbox.ts';
import { createRecentMachineView, type MachineView, viewOf } from './command-view.ts';
import { type LimitWatch, watchedPlace, watchLimits } from './limit-watch.ts';
import { findProcess, type ProcessIdentity, processEnd } from './process-identity.ts';
import { boundProcesses, canBoundProcesses, type LimitPrograms, limitProcess } from './resource-limits.ts';
import { type CommandEnd, handOver, notStarted, type RunningCommand } from './running-command.ts';
import { listeningSockets } from './unix-sockets.ts';

/**
 * Confinement by `bwrap`, in namespaces of its own for mounts, processes, network and IPC.
 *
 * 1. It begins with an empty filesystem. What can be seen is bound into it from the top down: the system, private directories,
 *    what else is readable, the root, and covers over what is hidden.
 * 2. /proc is read-only: root could otherwise set the kernel's parameters there. What it tells of the machine beyond the
 *    namespaces, such as the keys of our session by their names, is covered.
 * 3. The first process in the namespace takes all others with it when it ends, whatever session or parent they chose: it is
 *    a zombie only once they are gone. `bwrap` itself ends as soon as the command does, and the first process dies with it;
 *    so it is waited for. All of them die with us.
 * 4. Options go through a pipe, and the command's variables with them: none of them may reach `bwrap` itself.
 * 5. No descriptor of ours reaches the command, whoever gave it to us: not `bwrap` nor anything that runs before it gets one
 *    besides the pipes that are named here.
 * 6. Namespaces do not cover everything that the kernel keeps for a user. A filter refuses the calls that reach the rest.
 */
export function createBubblewrap({ bwrap, programs, privileges, hasSizes, filters }: BubblewrapSetup): CommandSandbox {
  const machine = createRecentMachineView();
  return {
    name: 'bubblewrap',
    start(command) {
      const limits = command.rules?.limits ?? DEFAULT_LIMITS;
      const cgroup = makeCgroup(limits);
      const pipes = ['--args', String(OPTIONS_FD), '--seccomp', String(FILTER_FD)];
      const confined = quoted([bwrap, ...pipes, '--', ...command.command]);
      const limited = limitProcess(limits, command.layer?.isMapped === true);
      const script = [cgroup?.enter ?? ':', limited, `exec ${confined}`].join('\n');
      const child = command.layer?.start(script) ?? started(script);
      lowerPriority(child);
      // It takes time to become `bwrap`, which waits for its options.
      const options = optionsOf(command, privileges, machine(), hasSizes ? limits : undefined);
      if (typeof options === 'string') {
        child.kill('SIGKILL');
        void cgroup?.remove();
        return notStarted(options);
      }
      const go = () => {
        send(child, FILTER_FD, cgroup === undefined ? filters.alone : filters.counted);
        send(child, OPTIONS_FD, options.arguments.map(option => `${option}\0`).join(''));
      };
      if (command.layer === undefined) go();
      const written = [command.root, ...options.writable, ...(command.layer ? [command.layer.directory] : [])];
      const watched = watchedPlace(written, options.inMemory, limits);
      const needsBound = privileges === 'capabilities' && cgroup === undefined && canBoundProcesses(programs);
      return running(child, command.layer && { entry: command.layer, go }, {
        watch: (pid, exceeded) => watchLimits(pid, limits, watched, exceeded),
        ...(needsBound && { bound: pid => boundProcesses(programs, pid, limits) }),
        cgroup,
      });
    },
  };
}

function started(script: string): ChildProcess {
  return startProgram('/bin/sh', ['-c', script], { cwd: '/', env: {}, detached: true, stdio: COMMAND_STDIO });
}

export interface BubblewrapSetup {
  readonly bwrap: string;
  readonly programs: LimitPrograms;
  readonly privileges: BubblewrapPrivileges;
  /** Whether this `bwrap` can bound its private directories; they are watched in any case. */
  readonly hasSizes: boolean;
  /** The system calls that are refused, without and within a cgroup; see `syscallFilter`. */
  readonly filters: { readonly alone: Uint8Array; readonly counted: Uint8Array };
}

/**
 * - `capabilities`: for root. It keeps those that let it use files of others, and no more.
 * - `user-namespace`: for everybody else, and for a root that may not make namespaces otherwise.
 */
export type BubblewrapPrivileges = 'capabilities' | 'user-namespace';

/** Empty, private and writable: what is temporary, and what services listen in. */
const PRIVATE = ['/tmp', '/var/tmp', '/run', '/var/run'];
/** No namespace confines what these tell. */
const OF_THE_MACHINE = [
  ...['keys', 'key-users', 'kcore', 'kmsg', 'latency_stats', 'sched_debug', 'timer_list', 'timer_stats', 'slabinfo'],
  ...['vmallocinfo', 'kpagecgroup', 'kpagecount', 'kpageflags', 'acpi', 'asound', 'scsi'],
].map(name => `/proc/${name}`);
const HOME = '/tmp/signalbox-home';
const FILE_CAPABILITIES = ['CAP_DAC_OVERRIDE', 'CAP_CHOWN', 'CAP_FOWNER'];

/** Something at a path of the command's filesystem. */
interface Mount {
  readonly path: string;
  /** `shown`: what is there outside. `empty`: a directory of its own. */
  readonly kind: 'shown' | 'empty' | 'hidden';
  readonly options: readonly string[];
}

interface BubblewrapOptions {
  readonly arguments: readonly string[];
  /** Private directories of the command. */
  readonly inMemory: readonly string[];
  /** Directories besides its root that it writes in. */
  readonly writable: readonly string[];
}

/** The options, or why there are none. */
function optionsOf(
  command: ConfinedCommand,
  privileges: BubblewrapPrivileges,
  machine: MachineView,
  sizes: CommandLimits | undefined,
): BubblewrapOptions | string {
  const { root, rules } = command;
  const own = [...new Set(PRIVATE.filter(path => fs.existsSync(path)).map(path => fs.realpathSync(path)))];
  const refused = command.refused.filter(path => fs.existsSync(path)).map(path => fs.realpathSync(path));
  const wide = [...own, '/dev', '/proc', '/sys'].find(path => isWithin(path, root));
  if (wide !== undefined) return `${root} cannot be confined to: it holds ${wide}`;
  if (refused.includes(root)) return `${root} is refused`;
  const view = viewOf({ root, machine, ...(rules && { rules }) });
  const env = { ...harmlessEnv(view.home ?? HOME, '/tmp', view.path), ...passedOn(rules), ...command.env };

  const size = sizes === undefined ? [] : ['--size', String(bytesOf(sizes.memoryMb))];
  const empty = (path: string): Mount => ({ path, kind: 'empty', options: [...size, '--tmpfs', path] });
  const mounts: readonly Mount[] = [
    ...[...own, ...view.covered].map(empty),
    ...view.readable.filter(({ path }) => !refused.some(one => isWithin(path, one))).map(({ path }) => readable(path)),
    { path: root, kind: 'shown', options: ['--bind', root, root] },
    ...view.writable.map((path): Mount => ({ path, kind: 'shown', options: ['--bind', path, path] })),
    ...[...view.hidden, ...refused].map((path): Mount => ({ path, kind: 'hidden', options: hidden(path) })),
  ];
  // Of what is at the same path, the last counts: the sort is stable.
  const ordered = mounts.toSorted((a, b) => depth(a.path) - depth(b.path));
  const isShown = (path: string) => ordered.findLast(mount => isWithin(path, mount.path))?.kind === 'shown';
  const options = [
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...(rules?.network === 'host' ? [] : ['--unshare-net']),
    ...['--die-with-parent', '--json-status-fd', String(STATUS_FD)],
    ...(privileges === 'user-namespace' ? ['--unshare-user'] : []),
    // On a layer we are root of a user namespace already; the command is to be who we are.
    ...(command.layer?.isMapped === true
      ? ['--uid', String(process.geteuid?.()), '--gid', String(process.getegid?.())]
      : []),
    ...['--cap-drop', 'ALL'],
    ...(privileges === 'capabilities' ? FILE_CAPABILITIES.flatMap(name => ['--cap-add', name]) : []),
    ...['--dev', '/dev', ...size, '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ...['--proc', '/proc', '--remount-ro', '/proc'],
    ...OF_THE_MACHINE.filter(path => fs.existsSync(path)).flatMap(covered),
    ...ordered.flatMap(mount => mount.options),
    ...listeningSockets()
      .filter(isShown)
      .flatMap(path => ['--ro-bind', '/dev/null', path]),
    ...ordered
      .filter(({ path, kind }) => kind === 'hidden' && isDirectory(path))
      .flatMap(({ path }) => ['--remount-ro', path]),
    ...['--dir', view.home ?? HOME, '--remount-ro', '/', '--chdir', root],
    ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
  // One option more could be hidden in another.
  if (options.some(option => option.includes('\0'))) return 'a variable or a path holds a null character';
  return { arguments: options, inMemory: ['/dev/shm', ...own, ...view.covered], writable: view.writable };
}

/** A link at the top of the system stays a link. */
function readable(path: string): Mount {
  const isLink = fs.lstatSync(path).isSymbolicLink();
  return {
    path,
    kind: 'shown',
    options: isLink ? ['--symlink', fs.readlinkSync(path), path] : ['--ro-bind', path, path],
  };
}

function hidden(path: string): readonly string[] {
  return isDirectory(path) ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path];
}

/** Hidden for good: nothing is put there either. */
function covered(path: string): readonly string[] {
  return [...hidden(path), ...(isDirectory(path) ? ['--remount-ro', path] : [])];
}

function isDirectory(path: string): boolean {
  return fs.statSync(path).isDirectory();
}

function depth(path: string): number {
  return path.split('/').length;
}

function send(child: ChildProcess, descriptor: number, data: string | Uint8Array): void {
  const pipe = child.stdio[descriptor] as Writable;
  // Where `bwrap` ended before it read them, its end says why.
  pipe.on('error', () => {});
  pipe.end(data);
}

/** However busy a command keeps the machine, we get to look at it. */
function lowerPriority(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) os.setPriority(child.pid, os.constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has ended already.
  }
}

/** Settles when everything that was said on a pipe was handed over. */
function closing(pipe: Stream | null | undefined): Promise<void> {
  return new Promise(resolve => {
    if (pipe === null || pipe === undefined || (pipe as Readable).closed) resolve();
    else pipe.once('close', () => resolve());
  });
}

const status = z.union([
  /** Who is on the layer. */
  z.strictObject({ layer: z.int().positive() }),
  z.looseObject({ 'child-pid': z.int().positive() }),
  /** Said only of a program that was started. */
  z.looseObject({ 'exit-code': z.int() }),
]);

interface Bounds {
  /** Done as soon as the command begins, which does not wait for it. */
  bound?(first: number): Promise<void>;
  watch(first: number, exceeded: (limit: LimitName) => void): LimitWatch;
  readonly cgroup: CommandCgroup | undefined;
}

/** A layer, and what starts the command once we are on it. */
interface Entering {
  readonly entry: LayerEntry;
  go(): void;
}

/** How a shell, and `bwrap`, tell of a process that wrote too large a file. */
const FILE_TOO_LARGE = 128 + os.constants.signals.SIGXFSZ;

function running(child: ChildProcess, layer: Entering | undefined, bounds: Bounds): RunningCommand {
  let isOnLayer = false;
  let refusal: string | undefined;
  let first: ProcessIdentity | undefined;
  let exitCode: number | undefined;
  let isKilled = false;
  let limit: LimitName | undefined;
  let watched: LimitWatch | undefined;
  let said = '';
  let reported = '';
  const killFirst = () => {
    try {
      if (first !== undefined) process.kill(first.pid, 'SIGKILL');
    } catch {
      // It has ended already.
    }
  };
  const watch = (pid: number) => {
    watched?.end();
    return bounds.watch(pid, reached => {
      limit = reached;
      killFirst();
    });
  };
  child.stdio[STATUS_FD]?.on('data', (chunk: Buffer) => {
    reported += chunk.toString();
    const lines = reported.split('\n');
    reported = lines.pop() ?? '';
    for (const line of lines) {
      const report = status.parse(JSON.parse(line));
      if ('layer' in report) {
        try {
          layer?.entry.entered(report.layer as number);
          isOnLayer = true;
          layer?.go();
        } catch (cause) {
          refusal = (cause as Error).message;
          child.kill('SIGKILL');
        }
      } else if ('exit-code' in report) {
        exitCode = report['exit-code'] as number;
        // A shell that may not start one process more ends at once, before what it started.
        if (exitCode !== 0) limit ??= watched?.last();
      } else {
        first = findProcess(report['child-pid'] as number);
        void bounds.bound?.(report['child-pid'] as number);
      }
      if (first !== undefined && exitCode === undefined && !isKilled) watched = watch(first.pid);
    }
    if (isKilled) killFirst();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    if (said.length < 1000) said += chunk.toString();
  });
  const ended = new Promise<CommandEnd>(resolve => {
    child.once('error', (cause: NodeJS.ErrnoException) =>
      resolve({ kind: 'not started', reason: cause.code ?? cause.message }),
    );
    const close = async (signal: NodeJS.Signals | null) => {
      watched?.end();
      const left = first;
      first = undefined;
      const isGone = left === undefined || (await processEnd(left));
      const enforced = bounds.cgroup?.reached();
      await bounds.cgroup?.remove();
      limit ??= exitCode === FILE_TOO_LARGE ? 'file size' : undefined;
      // A process that the kernel refused to start may have been one too many for the limit, or not needed.
      if (exitCode !== 0 && !isKilled) limit ??= enforced;
      if (limit !== undefined && !isKilled) resolve({ kind: 'limit', limit });
      else if (isKilled || !isGone) resolve({ kind: 'killed', signal: 'SIGKILL' });
      else if (exitCode !== undefined) resolve({ kind: 'exited', exitCode });
      else if (refusal !== undefined) resolve({ kind: 'no layer', reason: refusal });
      else if (signal !== null) resolve({ kind: 'killed', signal });
      else if (layer !== undefined && !isOnLayer) resolve({ kind: 'no layer', reason: said.trim() });
      else resolve({ kind: 'not started', reason: said.trim() });
    };
    child.once('exit', async (_, signal) => {
      await Promise.all([child.stdout, child.stderr, child.stdio[STATUS_FD]].map(closing));
      await close(signal);
    });
  });
  return {
    onOutput: take => handOver(child, take),
    kill() {
      isKilled = true;
      killFirst();
    },
    ended,
  };
}
