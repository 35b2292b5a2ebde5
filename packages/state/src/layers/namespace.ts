import type { ChildProcess } from 'node:child_process';
import * as fs from 'node:fs';
import type { Socket } from 'node:net';
import { startProgram } from '../programs/start-program.ts';
import { GO_FD, LAYER_STDIO } from '../sandbox/command-pipes.ts';
import { mountTable } from './mount-table.ts';

/**
 * A namespace of its own, with a shell in it that prepares it and then waits for what to do.
 *
 * - Root gets a mount namespace; everybody else a user namespace of their own, in which they are root.
 * - The shell ends when it is let go, and with us. While it waits it keeps no process of ours from ending.
 */
export interface Namespace {
  /** Whether it is as one that is made now: still there, and with the same mounts. */
  isCurrent(): boolean;
  /** Runs a script, once. The process has the pipes of a command, which are the script's; it keeps ours from ending as little as before. */
  run(script: string): ChildProcess;
  /** Ends the shell if it still waits. */
  end(): void;
}

export interface NamespaceOptions {
  readonly unshare: string;
  readonly isRoot: boolean;
  /** What the shell does at once: a script, and its arguments. */
  readonly first: { readonly script: string; readonly args: readonly string[] };
  /** The file that the shell reads when it is to go on. */
  readonly later: string;
}

export function makeNamespace({ unshare, isRoot, first, later }: NamespaceOptions): Namespace {
  const mounts = mountTable();
  const kinds = isRoot ? ['--mount'] : ['--user', '--map-root-user', '--mount'];
  const child = startProgram(unshare, [...kinds, '/bin/sh', '-c', `${first.script}\n${WAIT}`, later, ...first.args], {
    ...{ cwd: '/', env: {}, detached: true },
    stdio: LAYER_STDIO,
  });
  const pipes = child.stdio.flatMap(pipe => (pipe === null || pipe === undefined ? [] : [pipe as Socket]));
  const go = child.stdio.at(GO_FD) as Socket | undefined;
  // A shell that is gone says so by its end; one that waits is heard by nobody.
  for (const one of [child, go]) one?.on('error', () => {});
  for (const one of [child, ...pipes]) one.unref();
  let hasBegun = false;
  return {
    isCurrent: () => child.exitCode === null && child.signalCode === null && mounts === mountTable(),
    run(text) {
      hasBegun = true;
      fs.writeFileSync(later, text, { mode: 0o600 });
      go?.end('\n');
      return child;
    },
    end() {
      if (!hasBegun) for (const pipe of pipes) pipe.destroy();
    },
  };
}

const WAIT = `read -r go <&${GO_FD} || exit 0; exec ${GO_FD}<&-; . "$0"`;
