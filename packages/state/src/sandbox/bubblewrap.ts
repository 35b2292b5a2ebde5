import { type ChildProcess, spawn } from 'node:child_process';
import * as fs from 'node:fs';
import type { Readable, Stream, Writable } from 'node:stream';
import * as z from 'zod';
import { isWithin } from '../filesystem/path-locks.ts';
import type { LayerEntry } from '../layers/layer.ts';
import { type CommandSandbox, type ConfinedCommand, harmlessEnv } from './command-sandbox.ts';
import { findProcess, type ProcessIdentity, processEnd } from './process-identity.ts';
import { type CommandEnd, handOver, notStarted, type RunningCommand } from './running-command.ts';
import { listeningSockets } from './unix-sockets.ts';

/**
 * Confinement by `bwrap`, in namespaces of its own for mounts, processes, network and IPC.
 *
 * 1. The filesystem is bound read-only, then covered from the top down: private directories, the root, what is refused.
 * 2. /proc is read-only too: root could otherwise set the kernel's parameters there.
 * 3. The first process in the namespace takes all others with it when it ends, whatever session or parent they chose: it is
 *    a zombie only once they are gone. `bwrap` itself ends as soon as the command does, and the first process dies with it;
 *    so it is waited for. All of them die with us.
 * 4. Options go through a pipe, and the command's variables with them: none of them may reach `bwrap` itself.
 */
export function createBubblewrap(program: string, privileges: BubblewrapPrivileges): CommandSandbox {
  return {
    name: 'bubblewrap',
    start(command) {
      const options = optionsOf(command, privileges);
      if (typeof options === 'string') return notStarted(options);
      const confined = [program, '--args', String(OPTIONS_FD), '--', ...command.command];
      const child = command.layer?.start(confined) ?? started(confined);
      const go = () => send(child, options);
      if (command.layer === undefined) go();
      return running(child, command.layer && { entry: command.layer, go });
    },
  };
}

function started([program = '', ...args]: readonly string[]): ChildProcess {
  const stdio = ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'] as const;
  return spawn(program, args, { cwd: '/', env: {}, detached: true, stdio: [...stdio] });
}

/**
 * - `capabilities`: for root. It keeps those that let it use files of others, and no more.
 * - `user-namespace`: for everybody else, and for a root that may not make namespaces otherwise.
 */
export type BubblewrapPrivileges = 'capabilities' | 'user-namespace';

const STATUS_FD = 3;
const OPTIONS_FD = 4;

/** Covered by empty directories: what is temporary, and what services listen in. */
const PRIVATE = ['/tmp', '/var/tmp', '/run', '/var/run'];
const HOME = '/tmp/signalbox-home';
/** Where a system that keeps its programs under /run has them. */
const PROGRAMS_UNDER_RUN = '/run/current-system';
const FILE_CAPABILITIES = ['CAP_DAC_OVERRIDE', 'CAP_CHOWN', 'CAP_FOWNER'];

/** The options, or why there are none. */
function optionsOf(command: ConfinedCommand, privileges: BubblewrapPrivileges): readonly string[] | string {
  const { root } = command;
  const covered = [...new Set(PRIVATE.filter(path => fs.existsSync(path)).map(path => fs.realpathSync(path)))];
  const refused = command.refused.filter(path => fs.existsSync(path)).map(path => fs.realpathSync(path));
  const wide = [...covered, '/dev', '/proc', '/sys'].find(path => isWithin(path, root));
  if (wide !== undefined) return `${root} cannot be confined to: it holds ${wide}`;
  if (refused.includes(root)) return `${root} is refused`;
  const env = { ...harmlessEnv(HOME, '/tmp'), ...command.env };

  const mounts = [
    ...covered.map(path => ({ path, options: ['--tmpfs', path] })),
    { path: root, options: ['--bind', root, root] },
    ...refused.map(path => ({ path, options: hidden(path) })),
  ];
  const inside = (path: string) => isWithin(path, root) || ![...covered, ...refused].some(one => isWithin(path, one));
  const sockets = listeningSockets().filter(inside);
  const options = [
    ...['--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...['--die-with-parent', '--json-status-fd', String(STATUS_FD)],
    ...(privileges === 'user-namespace' ? ['--unshare-user'] : []),
    // On a layer we are root of a user namespace already; the command is to be who we are.
    ...(command.layer?.isMapped === true
      ? ['--uid', String(process.geteuid?.()), '--gid', String(process.getegid?.())]
      : []),
    ...['--cap-drop', 'ALL'],
    ...(privileges === 'capabilities' ? FILE_CAPABILITIES.flatMap(name => ['--cap-add', name]) : []),
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--remount-ro', '/proc'],
    ...mounts.sort((a, b) => depth(a.path) - depth(b.path)).flatMap(mount => mount.options),
    ...['--ro-bind-try', PROGRAMS_UNDER_RUN, PROGRAMS_UNDER_RUN],
    ...sockets.flatMap(path => ['--ro-bind', '/dev/null', path]),
    ...refused.filter(isDirectory).flatMap(path => ['--remount-ro', path]),
    ...['--dir', HOME, '--chdir', root],
    ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
  // One option more could be hidden in another.
  return options.some(option => option.includes('\0')) ? 'a variable or a path holds a null character' : options;
}

function hidden(path: string): readonly string[] {
  return isDirectory(path) ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path];
}

function isDirectory(path: string): boolean {
  return fs.statSync(path).isDirectory();
}

function depth(path: string): number {
  return path.split('/').length;
}

function send(child: ChildProcess, options: readonly string[]): void {
  const pipe = child.stdio[OPTIONS_FD] as Writable;
  // Where `bwrap` ended before it read them, its end says why.
  pipe.on('error', () => {});
  pipe.end(options.map(option => `${option}\0`).join(''));
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

/** A layer, and what starts the command once we are on it. */
interface Entering {
  readonly entry: LayerEntry;
  go(): void;
}

function running(child: ChildProcess, layer: Entering | undefined): RunningCommand {
  let isOnLayer = false;
  let refusal: string | undefined;
  let first: ProcessIdentity | undefined;
  let exitCode: number | undefined;
  let isKilled = false;
  let said = '';
  let reported = '';
  const killFirst = () => {
    try {
      if (first !== undefined) process.kill(first.pid, 'SIGKILL');
    } catch {
      // It has ended already.
    }
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
      } else if ('exit-code' in report) exitCode = report['exit-code'] as number;
      else first = findProcess(report['child-pid'] as number);
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
      const left = first;
      first = undefined;
      const isGone = left === undefined || (await processEnd(left));
      if (isKilled || !isGone) resolve({ kind: 'killed', signal: 'SIGKILL' });
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
