import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import * as fs from 'node:fs';

/** A program's descriptors, by number. */
export type Stdio = 'ignore' | 'pipe' | number;

export interface StartOptions extends Pick<SpawnOptions, 'cwd' | 'env' | 'detached'> {
  readonly stdio: readonly Stdio[];
}

/**
 * Starts a program that gets only the descriptors in `stdio`.
 *
 * Node opens its own descriptors close-on-exec, but passes on those it inherited: a shell's `exec 30</home/ada` would reach
 * every command. Node cannot close a descriptor in a child either, so each of these numbers is set to /dev/null there.
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
/** Linux's `O_CLOEXEC`, which Node does not define. */
const CLOSED_ON_EXEC = 0o2000000;
/** Numbers to cover if the kernel does not report which are in use. */
const USUAL = 1024;

/** Our descriptors that a started program would inherit. On macOS Node passes none on. */
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
    // It was closed since, like the descriptor of the listing itself.
    return true;
  }
}
