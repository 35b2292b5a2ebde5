import type { ChildProcess } from 'node:child_process';
import * as fs from 'node:fs';
import type { Socket } from 'node:net';
import { startProgram } from '../programs/start-program.ts';
import { GO_FD, LAYER_STDIO } from '../sandbox/command-pipes.ts';
import { mountTable } from './mount-table.ts';

/**
 * A namespace to mount a layer in, with a shell in it that waits for what to do.
 *
 * - Root gets a mount namespace; everybody else a user namespace of their own, in which they are root.
 * - The shell ends when it is let go, and with us. While it waits it keeps no process of ours from ending.
 */
export interface Namespace {
  /** Whether it is as one that is made now: still there, and with the same mounts. */
  isCurrent(): boolean;
  /** Runs a script, once. The process has the pipes of a command, which are the script's. */
  run(script: string): ChildProcess;
  /** Ends the shell if it still waits. */
  end(): void;
}

/** `script` is the file that the shell will read. */
export function makeNamespace(unshare: string, isRoot: boolean, script: string): Namespace {
  const mounts = mountTable();
  const kinds = isRoot ? ['--mount'] : ['--user', '--map-root-user', '--mount'];
  const child = startProgram(unshare, [...kinds, '/bin/sh', '-c', WAIT, 'layer', script], {
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
      for (const one of [child, ...pipes]) one.ref();
      fs.writeFileSync(script, text, { mode: 0o600 });
      go?.end('\n');
      return child;
    },
    end() {
      if (!hasBegun) for (const pipe of pipes) pipe.destroy();
    },
  };
}

const WAIT = `read -r go <&${GO_FD} || exit 0; exec ${GO_FD}<&-; . "$1"`;

/** Words that a shell reads as they are. */
export function quoted(words: readonly string[]): string {
  return words.map(word => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
}
