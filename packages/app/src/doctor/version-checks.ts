import { DatabaseSync } from 'node:sqlite';
import { runProgram } from '@signalbox/state';
import { gitProgram } from '../workspaces/git.ts';
import { type Check, failed, passed, warned } from './check.ts';

/** Older ones include a SQLite that can corrupt its write-ahead log. */
const NODE_MINIMUM = '24.15.0';
const SQLITE_MINIMUM = '3.51.3';
const NOT_THERE = { code: undefined, out: '' };

export function checkNode(version: string = process.versions.node): Check {
  return isAtLeast(version, NODE_MINIMUM)
    ? passed('node', version)
    : failed('node', version, `Install Node ${NODE_MINIMUM} or newer.`);
}

export function checkSqlite(version: string = sqliteVersion()): Check {
  return isAtLeast(version, SQLITE_MINIMUM)
    ? passed('sqlite', version)
    : failed(
        'sqlite',
        version,
        `SQLite ${SQLITE_MINIMUM} or newer is required for a reliable write-ahead log. Install Node ${NODE_MINIMUM} or newer, which includes it.`,
      );
}

export async function checkGit(program = gitProgram()): Promise<Check> {
  const options = { env: {}, timeoutMs: 10_000 };
  const { code, out } = program === undefined ? NOT_THERE : await runProgram(program, ['--version'], options);
  return code === 0
    ? passed('git', out.trim().replace(/^git version /, ''))
    : warned(
        'git',
        'not found',
        "Install git in a system directory (/usr/bin, /usr/local/bin). Without it there are no diffs of agents' changes and no worktrees.",
      );
}

function sqliteVersion(): string {
  const database = new DatabaseSync(':memory:');
  try {
    return String(database.prepare('select sqlite_version() as version').get()?.version);
  } finally {
    database.close();
  }
}

/** Compares by number, part by part; suffixes such as `-rc.1` are ignored. */
function isAtLeast(version: string, minimum: string): boolean {
  const [found, wanted] = [version, minimum].map(text => text.split(/[.-]/, 3).map(part => Number.parseInt(part, 10)));
  for (const [position, part] of (wanted ?? []).entries()) {
    const other = found?.[position] ?? 0;
    if (other !== part) return other > part;
  }
  return true;
}
