import type { SpawnOptions } from 'node:child_process';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { startProgram } from '../programs/start-program.ts';
import { type CommandEnd, groupEnding, killGroup } from './running-command.ts';

/** A program that stays and exchanges messages with us over its standard streams. */
export interface InteractiveProcess {
  /** Writing to a program that has ended is not an error: its end says so. */
  readonly stdin: Writable;
  /** Read both immediately. The program waits for a reader of its output that is slow, and its end does not wait for one. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Its process group, if it is not confined. */
  readonly pid?: number;
  /** Asks the program to end (TERM), and kills it with everything it started if it is still there after 5 s. */
  stop(): void;
  /** Settles once all its processes are gone. Never rejects. */
  readonly ended: Promise<CommandEnd>;
}

export const GRACE_MS = 5000;

/**
 * Starts a program that stays in its own process group, unconfined. The group ends with the program; processes that left the group
 * do not. If our process is killed, only the end of its input tells the program.
 */
export function openInGroup(
  command: readonly string[],
  options: Pick<SpawnOptions, 'cwd' | 'env'>,
  atEnd: () => void = () => {},
): InteractiveProcess {
  const [program = '', ...args] = command;
  const child = startProgram(program, args, { ...options, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null)
    return notOpened({ kind: 'not started', reason: 'no pipes' });
  stdin.on('error', () => {});
  stderr.resume();
  let killing: NodeJS.Timeout | undefined;
  const ended = groupEnding(child, [stderr]).finally(() => {
    clearTimeout(killing);
    atEnd();
  });
  return {
    ...{ stdin, stdout, stderr, ended },
    ...(child.pid !== undefined && { pid: child.pid }),
    stop() {
      if (killing !== undefined || child.exitCode !== null || child.signalCode !== null) return;
      killGroup(child, 'SIGTERM');
      killing = setTimeout(() => killGroup(child), GRACE_MS);
    },
  };
}

/** A program that was not started. */
export function notOpened(end: CommandEnd): InteractiveProcess {
  const nothing = () => new PassThrough().end();
  return {
    ...{ stdin: new PassThrough().resume(), stdout: nothing(), stderr: nothing() },
    stop() {},
    ended: Promise.resolve(end),
  };
}
