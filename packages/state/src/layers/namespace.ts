import type { ChildProcess } from 'node:child_process';
import * as fs from 'node:fs';
import type { Socket } from 'node:net';
import { startProgram } from '../programs/start-program.ts';
import { GO_FD, LAYER_STDIO } from '../sandbox/command-pipes.ts';
import { mountTable } from './mount-table.ts';

/**
 * A separate namespace, with a shell that prepares it and then waits for a script.
 *
 * - Root gets a mount namespace; other users get a user namespace in which they are root.
 * - The shell ends when it is released, and when this process ends. While it waits it does not keep this process alive.
 */
export interface Namespace {
  /** Whether it still matches a new one: alive, and with the same mounts. */
  isCurrent(): boolean;
  /** Runs a script, once, with the pipes of a command. The process still does not keep ours alive. */
  run(script: string): ChildProcess;
  /** Ends the shell if it is still waiting. */
  end(): void;
}

export interface NamespaceOptions {
  readonly unshare: string;
  readonly isRoot: boolean;
  /** What the shell runs first: a script and its arguments. */
  readonly first: { readonly script: string; readonly args: readonly string[] };
  /** The file that the shell reads when it may continue. */
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
  // A dead shell is noticed by its exit; the errors of a waiting one are ignored.
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
