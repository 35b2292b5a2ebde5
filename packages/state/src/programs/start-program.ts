import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import * as fs from 'node:fs';

/** What a descriptor of a program is, by its number. */
export type Stdio = 'ignore' | 'pipe' | number;

export interface StartOptions extends Pick<SpawnOptions, 'cwd' | 'env' | 'detached'> {
  readonly stdio: readonly Stdio[];
}

/**
 * Starts a program that gets the descriptors in `stdio` and no others of ours.
 *
 * Node opens everything to be closed in the programs it starts, but it does not close what it was itself started with: a shell's
 * `exec 30</home/ada` would reach every command. Node cannot close a descriptor in a child either, so each of these numbers is
 * given /dev/null there.
 */
export function startProgram(program: string, args: readonly string[], options: StartOptions): ChildProcess {
  const given = (number: number) => (options.stdio[number] ?? 'ignore') !== 'ignore';
  const foreign = inheritable().filter(number => number > 2 && !given(number));
  if (foreign.length === 0) return spawn(program, args, { ...options, stdio: [...options.stdio] });
  const nothing = fs.openSync('/dev/null', fs.constants.O_RDWR);
  try {
    const length = Math.max(options.stdio.length, ...foreign.map(number => number + 1));
    const stdio = Array.from({ length }, (_, number) => options.stdio[number] ?? 'ignore');
    for (const number of foreign) stdio[number] = nothing;
    return spawn(program, args, { ...options, stdio });
  } finally {
    fs.closeSync(nothing);
  }
}

const DESCRIPTORS = '/proc/self/fdinfo';
/** Linux' `O_CLOEXEC`, which Node does not name. */
const CLOSED_ON_EXEC = 0o2000000;
/** Numbers that are covered where the kernel does not tell which are in use. */
const USUAL = 1024;

/** Our descriptors that a program we start would inherit. On macOS Node lets none through. */
function inheritable(): readonly number[] {
  if (process.platform !== 'linux') return [];
  let numbers: readonly string[];
  try {
    numbers = fs.readdirSync(DESCRIPTORS);
  } catch {
    return Array.from({ length: USUAL }, (_, number) => number);
  }
  return numbers.filter(number => !isClosedOnExec(number)).map(Number);
}

function isClosedOnExec(number: string): boolean {
  try {
    const flags = /^flags:\s+([0-7]+)$/m.exec(fs.readFileSync(`${DESCRIPTORS}/${number}`, 'utf8'))?.[1] ?? '0';
    return (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) !== 0;
  } catch {
    // It was closed since: the descriptor of the directory itself is one.
    return true;
  }
}
