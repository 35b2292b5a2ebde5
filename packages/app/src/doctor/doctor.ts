import type { Program } from '../child/child-process.ts';
import { dataDirectoryFault } from '../data-directory-fault.ts';
import { thisMachine } from '../machine.ts';
import { type Check, warned } from './check.ts';
import { checkDeep, checkJournals } from './deep-checks.ts';
import { checkDisk } from './disk-check.ts';
import { checkLayers } from './layer-check.ts';
import { checkLock } from './lock-check.ts';
import { checkRecoveries } from './recovery-checks.ts';
import { checkSandbox } from './sandbox-check.ts';
import { openScratch } from './scratch-directory.ts';
import { checkSync } from './sync-check.ts';
import { checkGit, checkNode, checkSqlite } from './version-checks.ts';
import { checkView } from './view-checks.ts';

export interface DoctorOptions {
  readonly dataDir: string;
  readonly program: Program;
  /** Also checks everything that is kept, which takes as long as reading it. */
  readonly deep?: boolean;
}

export interface DoctorReport {
  /** False where Signalbox cannot be relied on here. */
  readonly ok: boolean;
  readonly dataDirectory: string;
  readonly checks: readonly Check[];
}

/** Says whether Signalbox can work on this machine. Everything is tried for real, and nothing is left behind. */
export async function doctor({ dataDir, program, deep = false }: DoctorOptions): Promise<DoctorReport> {
  const sandbox = await checkSandbox(dataDir);
  const isReadable = dataDirectoryFault(dataDir)?.code !== 'store/unusable';
  const checks = [
    checkNode(),
    checkSqlite(),
    await checkGit(),
    sandbox,
    ...(sandbox.status === 'ok' ? checkView(dataDir, process.cwd()) : []),
    ...checkDisk(dataDir),
    ...(await checkDataDirectory(dataDir, program)),
    ...(isReadable ? await checkContents(dataDir, deep) : []),
  ];
  return { ok: checks.every(check => check.status !== 'fail'), dataDirectory: dataDir, checks };
}

async function checkContents(dataDir: string, deep: boolean): Promise<readonly Check[]> {
  return [...checkRecoveries(dataDir, thisMachine().clock), ...(deep ? await checkDeep(dataDir) : aheadOnly(dataDir))];
}

/** Only where something is wrong: most directories have nothing to compare. */
function aheadOnly(dataDir: string): readonly Check[] {
  const check = checkJournals(dataDir);
  return check.status === 'ok' ? [] : [check];
}

async function checkDataDirectory(dataDir: string, program: Program): Promise<readonly Check[]> {
  const { check, scratch } = openScratch(dataDir);
  if (scratch === undefined) {
    const advice = 'Fix the data directory first.';
    return [check, warned('lock', 'not tried', advice), warned('fsync', 'not tried', advice)];
  }
  try {
    return [
      check,
      await checkLock(scratch.path, program),
      checkSync(scratch.path),
      await checkLayers(scratch.path, process.cwd()),
    ];
  } finally {
    scratch.remove();
  }
}
