import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';
import { repositoryRoot } from '../../../scripts/local-program.ts';
import { isProgramStale, programEntry } from '../../../scripts/staleness.ts';

/** The entry point of the program. The build keeps its compiled code for the next start, as an installed program does. */
export const entry = keepsCode() ? path.join(repositoryRoot, 'test/built-program.js') : programEntry();

/** A machine that is busy with something else is not a program that hangs. */
export const PATIENCE_MS = 600_000;

/** A folder for the tests of one file, gone after them. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'program-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function keepsCode(): boolean {
  return process.env.SIGNALBOX_FULL !== '1' && !isProgramStale();
}

/** Runs the real program with an environment of its own. */
export function signalbox(args: readonly string[], options: { cwd: string; env?: Record<string, string> }): Outcome {
  const { status, stdout, stderr } = spawnSync(process.execPath, [entry, ...args], {
    cwd: options.cwd,
    env: { ...ownEnvironment(options.cwd), ...options.env },
    encoding: 'utf8',
    timeout: PATIENCE_MS,
    killSignal: 'SIGKILL',
  });
  return { status, stdout, stderr };
}

/** Runs it for a reader that closes its end before anything comes. */
export async function signalboxForNobody(args: readonly string[], cwd: string): Promise<Omit<Outcome, 'stdout'>> {
  const child = spawn(process.execPath, [entry, ...args], {
    cwd,
    env: ownEnvironment(cwd),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: PATIENCE_MS,
  });
  child.stdout.destroy();
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', text => {
    stderr += text;
  });
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.once('close', resolve);
  return { status: await promise, stderr };
}

/** Nothing of this machine but where programs are, and what makes them start fast. */
export function ownEnvironment(cwd: string): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  return { PATH, NODE_COMPILE_CACHE, HOME: cwd, TMPDIR: cwd };
}
