import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import * as os from 'node:os';
import type { Readable, Stream, Writable } from 'node:stream';
import { Bug } from '@signalbox/model';
import * as z from 'zod';
import type { LayerEntry, Standby } from '../layers/layer.ts';
import { quoted } from '../programs/shell-words.ts';
import { startProgram } from '../programs/start-program.ts';
import { type BubblewrapPrivileges, optionsOf } from './bubblewrap-options.ts';
import { type CommandCgroup, makeCgroup } from './cgroup.ts';
import { DEFAULT_LIMITS, type LimitName } from './command-limits.ts';
import { COMMAND_STDIO, FILTER_FD, OPTIONS_FD, STATUS_FD } from './command-pipes.ts';
import type { CommandSandbox, ConfinedCommand, InteractiveCommand } from './command-sandbox.ts';
import { createRecentMachineView } from './command-view.ts';
import { GRACE_MS, type InteractiveProcess, notOpened } from './interactive-process.ts';
import { type LimitWatch, STAYING_PACE, watchedPlace, watchLimits } from './limit-watch.ts';
import { childrenOf, findProcess, type ProcessIdentity, processEnd } from './process-identity.ts';
import { boundProcesses, canBoundProcesses, type LimitPrograms, limitProcess } from './resource-limits.ts';
import { type CommandEnd, handOver, notStarted, type RunningCommand } from './running-command.ts';
import { NO_RULES } from './sandbox-rules.ts';
import { endStuckSandboxes } from './stuck-sandboxes.ts';

/**
 * Confinement by `bwrap`, in separate namespaces for mounts, processes, network and IPC.
 *
 * 1. It starts with an empty filesystem. Visible entries are bound into it from the top down: the system, private directories,
 *    other readable entries, the root, and covers over hidden entries.
 * 2. /proc is read-only: otherwise root could set kernel parameters there. Information beyond the namespaces, such as the names
 *    of our session's keys, is covered.
 * 3. When the first process in the namespace ends, all others end with it, whatever session or parent they chose: it becomes
 *    a zombie only once they are gone. `bwrap` itself ends as soon as the command does, and the first process dies with it;
 *    so we wait for it. All of them die with us; the next process ends any half-built sandbox that a kill leaves.
 * 4. Options, including the command's variables, go through a pipe: none of the variables may reach `bwrap` itself.
 * 5. None of our descriptors reaches the command, including inherited ones: `bwrap`, and anything that runs before it, gets only
 *    the pipes named here.
 * 6. Namespaces do not cover everything that the kernel keeps for a user. A filter refuses the calls that reach the rest.
 * 7. On a layer mounted ahead, `bwrap` is started ahead too, with the options of the last command on the same root, and a shell
 *    in it waits for its program. It is used only for a command whose options would be exactly the same now.
 * 8. A program that stays has our pipes as its standard streams, and nothing is started ahead for it. It is asked to end by a signal
 *    to the processes below the first one, which ignores it.
 */
export function createBubblewrap({ bwrap, programs, privileges, hasSizes, filters }: BubblewrapSetup): CommandSandbox {
  const machine = createRecentMachineView();
  const outer = [bwrap, '--args', String(OPTIONS_FD), '--seccomp', String(FILTER_FD), '--'];
  endStuckSandboxes(outer);
  const waiting = new WeakMap<LayerEntry, Launched>();

  function launch(command: ConfinedCommand, program: string): Launched | string {
    const { layer } = command;
    const limits = limitsOf(command);
    const cgroup = makeCgroup(limits);
    const limited = limitProcess(limits, layer?.isMapped === true);
    const script = [cgroup?.enter ?? ':', limited, `exec ${quoted(outer)} ${program}`].join('\n');
    const child = layer?.start(script) ?? started(script, command.own !== undefined);
    lowerPriority(child);
    // Starting `bwrap` takes time, and it then waits for its options.
    const options = optionsFor(command);
    if (typeof options === 'string') {
      child.kill('SIGKILL');
      void cgroup?.remove();
      return options;
    }
    const go = () => {
      send(child, FILTER_FD, cgroup === undefined ? filters.alone : filters.counted);
      send(child, OPTIONS_FD, options.arguments.map(option => `${option}\0`).join(''));
    };
    if (layer === undefined) go();
    const written = [command.root, ...options.writable, ...(layer ? [layer.directory] : [])];
    const needsBound = privileges === 'capabilities' && cgroup === undefined && canBoundProcesses(programs);
    const process = running(child, layer && { entry: layer, go }, {
      watch(pid, exceeded) {
        const pace = command.own && STAYING_PACE;
        return watchLimits(pid, limits, watchedPlace(written, options.inMemory, limits), exceeded, pace);
      },
      ...(needsBound && { bound: pid => boundProcesses(programs, pid, limits) }),
      cgroup,
    });
    return { ...process, key: keyOf(command, options.arguments), isRootUnseen: options.isRootUnseen };
  }

  function optionsFor(command: ConfinedCommand) {
    return optionsOf(command, privileges, machine(), hasSizes ? limitsOf(command) : undefined);
  }

  /** Starts everything except the program on the root's next layer. */
  function launchNext(command: ConfinedCommand, layer: LayerEntry): void {
    layer.ahead(next => {
      const launched = launch({ ...command, layer: next }, '/bin/sh');
      if (typeof launched === 'string') throw new Error(launched);
      waiting.set(next, launched);
      return launched;
    });
  }

  return {
    name: 'bubblewrap',
    start(command) {
      const { layer } = command;
      const ready = layer && waiting.get(layer);
      if (layer === undefined || ready === undefined) {
        const launched = launch(command, `${quoted(command.command)} < /dev/null`);
        if (typeof launched === 'string') return notStarted(launched);
        if (layer !== undefined && launched.isRootUnseen) launchNext(command, layer);
        return launched.begin();
      }
      const options = optionsFor(command);
      const isSame = typeof options !== 'string' && ready.key === keyOf(command, options.arguments);
      // A shell would take it for an option.
      if (!isSame || command.command[0]?.startsWith('-')) {
        layer.ahead(undefined);
        ready.end();
        return { onOutput() {}, kill() {}, ended: Promise.resolve({ kind: 'other layer' }) };
      }
      launchNext(command, layer);
      return ready.begin(command.command);
    },
    open(command) {
      const { layer } = command;
      const ready = layer && waiting.get(layer);
      if (ready !== undefined) {
        layer?.ahead(undefined);
        ready.end();
        return notOpened({ kind: 'other layer' });
      }
      const launched = launch(confined(command), quoted(command.command));
      return typeof launched === 'string' ? notOpened({ kind: 'not started', reason: launched }) : launched.attach();
    },
  };
}

function confined({ variables, limits, readable, home, ...command }: InteractiveCommand): ConfinedCommand {
  const rules = { ...NO_RULES, network: 'host' as const, limits };
  return { ...command, env: variables, rules, own: { readable, home } };
}

function limitsOf({ rules }: ConfinedCommand) {
  return rules?.limits ?? DEFAULT_LIMITS;
}

function keyOf(command: ConfinedCommand, options: readonly string[]): string {
  return JSON.stringify([options, limitsOf(command)]);
}

/** A started `bwrap`. If it runs a shell, the shell waits for the program to exec. */
interface Launched extends Standby {
  readonly key: string;
  readonly isRootUnseen: boolean;
  begin(program?: readonly string[]): RunningCommand;
  /** Begins a program that stays. */
  attach(): InteractiveProcess;
}

function started(script: string, hasInput: boolean): ChildProcess {
  const stdio = hasInput ? COMMAND_STDIO.with(0, 'pipe') : COMMAND_STDIO;
  return startProgram('/bin/sh', ['-c', script], { cwd: '/', env: {}, detached: true, stdio });
}

export interface BubblewrapSetup {
  readonly bwrap: string;
  readonly programs: LimitPrograms;
  readonly privileges: BubblewrapPrivileges;
  /** Whether this `bwrap` can limit the size of its private directories; they are watched in any case. */
  readonly hasSizes: boolean;
  /** The system calls that are refused, without and within a cgroup; see `syscallFilter`. */
  readonly filters: { readonly alone: Uint8Array; readonly counted: Uint8Array };
}

function send(child: ChildProcess, descriptor: number, data: string | Uint8Array): void {
  const pipe = child.stdio[descriptor] as Writable;
  // If `bwrap` ended before reading them, its exit explains why.
  pipe.on('error', () => {});
  pipe.end(data);
}

/** Ensures that we can watch a command however busy it keeps the machine. */
function lowerPriority(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) os.setPriority(child.pid, os.constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has already ended.
  }
}

/** Settles when all output of a pipe has been delivered. */
function closing(pipe: Stream | null | undefined): Promise<void> {
  return new Promise(resolve => {
    if (pipe === null || pipe === undefined || (pipe as Readable).closed) resolve();
    else pipe.once('close', () => resolve());
  });
}

const status = z.union([
  /** The process on the layer. */
  z.strictObject({ layer: z.int().positive() }),
  z.looseObject({ 'child-pid': z.int().positive() }),
  /** Reported only for a started program. */
  z.looseObject({ 'exit-code': z.int() }),
]);

interface Bounds {
  /** Runs as soon as the command begins; the command does not wait for it. */
  bound?(first: number): Promise<void>;
  watch(first: number, exceeded: (limit: LimitName) => void): LimitWatch;
  readonly cgroup: CommandCgroup | undefined;
}

/** A layer, and what starts the command once we are on it. */
interface Entering {
  readonly entry: LayerEntry;
  go(): void;
}

/** How a shell and `bwrap` report a process that wrote too large a file. */
const FILE_TOO_LARGE = 128 + os.constants.signals.SIGXFSZ;

function running(
  child: ChildProcess,
  layer: Entering | undefined,
  bounds: Bounds,
): Pick<Launched, 'begin' | 'attach' | 'isAlive' | 'end'> {
  let hasBegun = false;
  /** Whether somebody else reads the output, at their own pace. */
  let isAttached = false;
  let killing: NodeJS.Timeout | undefined;
  /** The shell's message if it cannot exec the program; the program does not know it. */
  const failure = randomUUID();
  let isOnLayer = false;
  let refusal: string | undefined;
  let first: ProcessIdentity | undefined;
  /** Whether the first process was reported; a program may say something before that is read. */
  let isKnown = false;
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
      // It has already ended.
    }
  };
  const watch = () => {
    if (!hasBegun || first === undefined || exitCode !== undefined || isKilled) return;
    watched?.end();
    watched = bounds.watch(first.pid, reached => {
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
        // A shell that may not start another process ends at once, before its children.
        if (exitCode !== 0) limit ??= watched?.last();
      } else {
        isKnown = true;
        first = findProcess(report['child-pid'] as number);
        // It was stopped before we knew whom to ask.
        if (killing !== undefined) askToEnd();
        void bounds.bound?.(report['child-pid'] as number);
      }
      watch();
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
      clearTimeout(killing);
      const left = first;
      first = undefined;
      const isGone = left === undefined || (await processEnd(left));
      const enforced = bounds.cgroup?.reached();
      await bounds.cgroup?.remove();
      limit ??= exitCode === FILE_TOO_LARGE ? 'file size' : undefined;
      // A process that the kernel refused to start may have exceeded the limit, or may not have mattered.
      if (exitCode !== 0 && !isKilled) limit ??= enforced;
      // It had ended before anyone was asked to end.
      const wasOver = isAttached && killing === undefined;
      // A shell that fails by itself before it is on the layer could not mount it, whoever gave up on it meanwhile.
      const isUnmounted = layer !== undefined && !isOnLayer && signal === null && child.exitCode !== 0;
      if (limit !== undefined && !isKilled) resolve({ kind: 'limit', limit });
      else if (isUnmounted)
        resolve({ kind: 'no layer', reason: refusal ?? (firstLine(said) || 'it could not be mounted') });
      else if (wasOver && isGone && exitCode !== undefined) resolve({ kind: 'exited', exitCode });
      else if (isKilled || !isGone) resolve({ kind: 'killed', signal: 'SIGKILL' });
      else if (killing !== undefined) resolve({ kind: 'killed', signal: 'SIGTERM' });
      else if (exitCode !== undefined && said.includes(failure))
        resolve({ kind: 'not started', reason: refusalIn(said) });
      else if (exitCode !== undefined) resolve({ kind: 'exited', exitCode });
      else if (refusal !== undefined) resolve({ kind: 'no layer', reason: refusal });
      else if (signal !== null) resolve({ kind: 'killed', signal });
      else if (layer !== undefined && !isOnLayer) resolve({ kind: 'no layer', reason: firstLine(said) });
      else resolve({ kind: 'not started', reason: firstLine(said) });
    };
    child.once('exit', async (_, signal) => {
      const pipes = [...(isAttached ? [] : [child.stdout]), child.stderr, child.stdio[STATUS_FD]];
      await Promise.all(pipes.map(closing));
      await close(signal);
    });
  });
  const kill = () => {
    isKilled = true;
    killFirst();
  };
  const askToEnd = () => {
    if (first === undefined || !isAsked(first)) return kill();
    killing ??= setTimeout(kill, GRACE_MS);
  };
  const begun = () => {
    hasBegun = true;
    for (const one of [child, ...child.stdio]) (one as Socket | ChildProcess | null)?.ref();
  };
  return {
    begin(program) {
      begun();
      if (program !== undefined)
        send(child, 0, `trap 'echo ${failure} >&2' EXIT; exec ${quoted(program)} < /dev/null\n`);
      watch();
      return {
        onOutput: take => handOver(child, take),
        kill,
        ended,
      };
    },
    attach() {
      begun();
      isAttached = true;
      watch();
      const { stdin, stdout, stderr } = child;
      if (stdin === null || stdout === null || stderr === null) throw new Bug('the program has no standard streams');
      stdin.on('error', () => {});
      return {
        ...{ stdin, stdout, stderr, ended },
        stop() {
          if (killing !== undefined || isKilled) return;
          if (isKnown || child.exitCode !== null) askToEnd();
          else killing = setTimeout(kill, GRACE_MS);
        },
      };
    },
    isAlive: () => child.exitCode === null && child.signalCode === null,
    end() {
      // It ends on its own without its pipes. Killing it while it creates namespaces would leave their first process behind.
      if (hasBegun) return;
      for (const pipe of child.stdio) (pipe as Socket | null)?.destroy();
    },
  };
}

/** Whether the processes below a namespace's first one could be asked to end. */
function isAsked({ pid }: ProcessIdentity): boolean {
  let isAnyone = false;
  for (const child of childrenOf(pid)) {
    try {
      isAnyone = process.kill(child, 'SIGTERM') || isAnyone;
    } catch {
      // It has already ended.
    }
  }
  return isAnyone;
}

/** What a program said first; it ends a sentence of ours, and `mount` goes on about where to look. */
function firstLine(said: string): string {
  return (said.trim().split('\n')[0] ?? '').trim().replace(/\.$/, '');
}

/** Why a shell could not exec a program. */
function refusalIn(said: string): string {
  return said
    .slice(0, said.lastIndexOf('\n', said.length - 2))
    .replace(/^.*?exec: /s, '')
    .trim();
}
