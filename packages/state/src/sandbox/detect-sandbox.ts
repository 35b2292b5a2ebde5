import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { err, ok, type Result } from '@signalbox/model';
import { runProgram } from '../programs/run-program.ts';
import { SYSTEM_DIRECTORIES, systemProgram } from '../programs/system-programs.ts';
import { createBubblewrap } from './bubblewrap.ts';
import type { BubblewrapPrivileges } from './bubblewrap-options.ts';
import { type CommandSandbox, type SandboxMissingError, sandboxMissing } from './command-sandbox.ts';
import { createSeatbelt } from './seatbelt.ts';
import { syscallFilter } from './syscall-filter.ts';

/**
 * Finds the sandbox that works on this machine by running a trivial command in it. Costs two processes: keep the result.
 *
 * The program is looked up in system directories, not on the PATH: a command could put a program of that name there.
 */
export async function detectSandbox(directories: readonly string[] = SYSTEM_DIRECTORIES): Promise<SandboxDetection> {
  switch (process.platform) {
    case 'linux':
      return tried('bwrap', directories, BUBBLEWRAP_HINT, async bwrap => {
        const [alone, counted] = [syscallFilter(), syscallFilter(process.arch, { isCounted: true })];
        if (alone === undefined || counted === undefined) return [];
        const programs = { nsenter: systemProgram('nsenter', directories) };
        const hasSizes = (await helpOf(bwrap)).includes('--size ');
        const privileges = process.geteuid?.() === 0 ? ROOT_PRIVILEGES : OTHER_PRIVILEGES;
        const setup = { bwrap, programs, hasSizes, filters: { alone, counted } };
        return privileges.map(one => createBubblewrap({ ...setup, privileges: one }));
      });
    case 'darwin':
      return tried('sandbox-exec', directories, 'It is part of macOS.', async program => [createSeatbelt(program)]);
    default:
      return err(sandboxMissing(`there is no sandbox for ${process.platform}`, 'Use Linux or macOS.'));
  }
}

export type SandboxDetection = Result<CommandSandbox, SandboxMissingError>;

const BUBBLEWRAP_HINT =
  'Install bubblewrap (apt install bubblewrap, dnf install bubblewrap), and let it create namespaces: a container needs enough privileges, Ubuntu needs an AppArmor profile for bwrap.';
const PROOF = 'confined';
const OTHER_PRIVILEGES: readonly BubblewrapPrivileges[] = ['user-namespace'];
const ROOT_PRIVILEGES: readonly BubblewrapPrivileges[] = ['capabilities', 'user-namespace'];

/** A program's own help text; older versions have fewer options. */
async function helpOf(program: string): Promise<string> {
  const { out, said } = await runProgram(program, ['--help'], { env: {}, timeoutMs: 10_000 });
  return out + said;
}

async function tried(
  name: string,
  directories: readonly string[],
  hint: string,
  create: (program: string) => Promise<readonly CommandSandbox[]>,
): Promise<SandboxDetection> {
  const program = systemProgram(name, directories);
  if (program === undefined) return err(sandboxMissing(`${name} is not installed`, hint));
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'signalbox-sandbox-')));
  let reason = '';
  try {
    for (const sandbox of await create(program)) {
      const failed = await failureOf(sandbox, root);
      if (failed === undefined) return ok(sandbox);
      reason ||= failed;
    }
  } finally {
    fs.rmSync(root, { recursive: true, force: true });
  }
  return err(
    sandboxMissing(
      `${name} does not work here: ${reason || `there is no system call filter for ${process.arch}`}`,
      hint,
    ),
  );
}

/** Undefined if a command can write in the root, and nowhere else. */
async function failureOf(sandbox: CommandSandbox, root: string): Promise<string | undefined> {
  const beside = `${root}-beside`;
  const script = `echo ${PROOF} > proof; echo ${PROOF} > "$0" 2>/dev/null; exit 0`;
  const running = sandbox.start({ command: ['/bin/sh', '-c', script, beside], root, refused: [], env: {} });
  let said = '';
  running.onOutput(chunk => {
    said += chunk.toString();
  });
  const ended = await running.ended;
  const escaped = fs.existsSync(beside);
  fs.rmSync(beside, { force: true });
  if (escaped) return 'its commands are not confined';
  if (ended.kind === 'not started') return ended.reason;
  const wrote = fs.existsSync(`${root}/proof`) && fs.readFileSync(`${root}/proof`, 'utf8').trim() === PROOF;
  return ended.kind === 'exited' && ended.exitCode === 0 && wrote ? undefined : said.trim() || 'it cannot write';
}
