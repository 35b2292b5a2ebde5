import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import type { AgentRow, InstalledAgent } from './register.ts';

/** An npm project that installs one agent and nothing else, at the versions and integrity of its lock. */
export interface AgentProject {
  /** Contents by file name: `package.json`, `package-lock.json`. */
  readonly files: Readonly<Record<string, string>>;
  /** Identifies the contents. */
  readonly digest: string;
}

/** Locks name no registry: npm asks the user's own. */
const locks: Readonly<Record<string, () => Promise<{ readonly default: object }>>> = {
  claude: () => import('./locks/claude.json', { with: { type: 'json' } }),
  codex: () => import('./locks/codex.json', { with: { type: 'json' } }),
  copilot: () => import('./locks/copilot.json', { with: { type: 'json' } }),
  gemini: () => import('./locks/gemini.json', { with: { type: 'json' } }),
  goose: () => import('./locks/goose.json', { with: { type: 'json' } }),
  opencode: () => import('./locks/opencode.json', { with: { type: 'json' } }),
  qwen: () => import('./locks/qwen.json', { with: { type: 'json' } }),
};

/**
 * Arguments of `npm`, run in the project's directory. No package runs a script while it is installed: what an agent does, it does confined.
 */
export const INSTALL_ARGUMENTS: readonly string[] = [
  'ci',
  '--ignore-scripts',
  '--prefer-offline',
  '--no-audit',
  '--no-fund',
];

/** Undefined if the agent is not a package of npm. */
export async function agentProject(row: AgentRow): Promise<AgentProject | undefined> {
  const lock = await locks[row.id]?.();
  if (row.package === undefined || lock === undefined) return undefined;
  const manifest = { private: true, dependencies: { [row.package.name]: row.package.version } };
  const files = {
    'package.json': `${JSON.stringify(manifest, null, 2)}\n`,
    'package-lock.json': `${JSON.stringify(lock.default, null, 2)}\n`,
  };
  return { files, digest: createHash('sha256').update(JSON.stringify(files)).digest('hex') };
}

/** The agent that npm installed in a directory; undefined if its program is not there. */
export function installedIn(row: AgentRow, directory: string): InstalledAgent | undefined {
  if (row.package === undefined) return undefined;
  const modules = path.join(directory, 'node_modules');
  const home = path.join(modules, row.package.name);
  const { kind, args } = row.start;
  const file = kind === 'script' ? path.join(home, row.start.file) : path.join(modules, '.bin', row.start.file);
  if (kind === 'program' || !fs.existsSync(file)) return undefined;
  const version = versionIn(home);
  if (version === undefined) return undefined;
  const program = kind === 'script' ? [process.execPath, file, ...args] : [file, ...args];
  return { directory, program, version, from: 'data directory' };
}

function versionIn(home: string): string | undefined {
  try {
    const { version } = JSON.parse(fs.readFileSync(path.join(home, 'package.json'), 'utf8')) as { version?: unknown };
    return typeof version === 'string' ? version : undefined;
  } catch {
    return undefined;
  }
}
