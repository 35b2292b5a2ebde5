import * as fs from 'node:fs';
import path from 'node:path';
import {
  type AgentRow,
  agentProject,
  INSTALL_ARGUMENTS,
  type InstalledAgent,
  installedIn,
} from '@signalbox/adapters/agents';
import { type ErrorEnvelope, err, failure, ok, type Result, thrownMessage } from '@signalbox/model';
import { runProgram } from '@signalbox/state';
import { makePrivateDirectory } from '../private-directory.ts';
import { type AgentRegister, rowOf } from './agent-register.ts';
import {
  asidePlace,
  type InstallProgress,
  progressIn,
  putInPlace,
  removeLeftovers,
  takeAway,
} from './install-place.ts';
import { agentDirectory, programNamed } from './installed-agents.ts';

/** An agent that is known by name, and where it is on this machine. */
export interface KnownAgent extends Pick<AgentRow, 'id' | 'title' | 'vendor' | 'package' | 'isTried' | 'quirks'> {
  readonly installed?: InstalledAgent;
}

export interface AgentsDeskOptions {
  readonly dataDirectory: string;
  readonly register: AgentRegister;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Every agent that can be named, in the order of the register. */
export function listAgents({
  register,
}: Pick<AgentsDeskOptions, 'register'>): Result<readonly KnownAgent[], ErrorEnvelope> {
  const rows = register.rows();
  return rows.ok ? ok(rows.value.map(row => known(row, register))) : err(unknown(rows.error));
}

export function findAgent(
  { register }: Pick<AgentsDeskOptions, 'register'>,
  name: string,
): Result<AgentRow, ErrorEnvelope> {
  const row = rowOf(register, name);
  return row.ok ? row : err(unknown(row.error));
}

/** The agent of that name, or all that are installed. */
export function agentsToTry(
  options: Pick<AgentsDeskOptions, 'register'>,
  name: string | undefined,
): Result<readonly AgentRow[], ErrorEnvelope> {
  if (name !== undefined) {
    const row = findAgent(options, name);
    return row.ok ? ok([row.value]) : row;
  }
  const rows = options.register.rows();
  if (!rows.ok) return err(unknown(rows.error));
  return ok(rows.value.filter(row => options.register.installed(row) !== undefined));
}

export interface AddOptions {
  /** Ends the installation: nothing of it stays. */
  readonly signal?: AbortSignal;
  /** Called when it begins, with a way to ask how far it is. */
  onBegin?(progress: () => InstallProgress): void;
}

/**
 * Installs an agent at its pinned version below the data directory, with the npm of the PATH. It is moved into place once it is whole,
 * and replaces another version. Two processes may install the same agent: the last one counts, and either is whole.
 */
export async function addAgent(
  options: AgentsDeskOptions,
  name: string,
  { signal, onBegin }: AddOptions = {},
): Promise<Result<KnownAgent, ErrorEnvelope>> {
  const { dataDirectory, register, env } = options;
  const found = findAgent(options, name);
  if (!found.ok) return found;
  const row = found.value;
  const project = await agentProject(row);
  if (row.package === undefined || project === undefined)
    return err(
      notInstalled(row, 'it is not a package of npm', 'Install its program yourself, so that it is on the PATH.'),
    );
  // A project's own programs come first on the PATH of its scripts.
  const npm = programNamed('npm', env, entry => !entry.includes('/node_modules'));
  if (npm === undefined) return err(notInstalled(row, 'npm is not on the PATH', 'Install npm, which comes with Node.'));
  const place = agentDirectory(dataDirectory, row.id);
  makePrivateDirectory(path.dirname(place));
  removeLeftovers(path.dirname(place));
  const making = asidePlace(place);
  try {
    for (const [file, content] of Object.entries(project.files)) fs.writeFileSync(path.join(making, file), content);
    onBegin?.(progressIn(making, project));
    const problem = await problemOf(npm, making, { env, ...(signal && { signal }) });
    if (signal?.aborted === true) return err(notInstalled(row, 'it was canceled', 'Add it again when you want it.'));
    if (problem !== undefined)
      return err(
        notInstalled(row, `npm failed: ${problem}`, 'Check the network and the registry of npm, then try again.'),
      );
    if (installedIn(row, making)?.version !== row.package.version)
      return err(notInstalled(row, `it has no program for ${process.platform}-${process.arch}`, 'Use another agent.'));
    putInPlace(making, place);
    return ok(known(row, register));
  } catch (cause) {
    return err(notInstalled(row, thrownMessage(cause), 'Check that the data directory is writable and not full.'));
  } finally {
    fs.rmSync(making, { recursive: true, force: true });
  }
}

/** Removes an agent that `addAgent` installed. */
export function removeAgent(options: AgentsDeskOptions, name: string): Result<KnownAgent, ErrorEnvelope> {
  const { dataDirectory, register } = options;
  const found = findAgent(options, name);
  if (!found.ok) return found;
  const place = agentDirectory(dataDirectory, found.value.id);
  if (!fs.existsSync(place)) {
    const message = `The agent ${name} is not installed in the data directory.`;
    return err(failure('agent/not-installed', { message, suggestion: 'List agents with: signalbox agents ls' }));
  }
  takeAway(place);
  return ok(known(found.value, register));
}

function known(row: AgentRow, register: AgentRegister): KnownAgent {
  const { id, title, vendor, package: of, isTried, quirks } = row;
  const installed = register.installed(row);
  return { id, title, vendor, ...(of && { package: of }), isTried, quirks, ...(installed && { installed }) };
}

/** Why npm failed, in its own words. It needs all of the user's settings: registries, proxies, certificates. */
async function problemOf(
  npm: string,
  cwd: string,
  options: Pick<AgentsDeskOptions, 'env'> & Pick<AddOptions, 'signal'>,
): Promise<string | undefined> {
  const { code, said } = await runProgram(npm, INSTALL_ARGUMENTS, { cwd, maxBytes: MOST_SAID, ...options });
  return code === 0 ? undefined : reasonIn(said) || (code === undefined ? said : `it exited with ${code}`);
}

const MOST_SAID = 1 << 26;

function reasonIn(said: string): string {
  const lines = said.split('\n').flatMap(line => /^npm error (?!A complete log)(.+)/.exec(line)?.[1] ?? []);
  return lines.slice(0, 3).join(' ');
}

function unknown(message: string): ErrorEnvelope {
  return failure('agent/unknown', { message, suggestion: 'List agents with: signalbox agents ls' });
}

function notInstalled({ title, package: of }: AgentRow, why: string, suggestion: string): ErrorEnvelope {
  const what = of === undefined ? title : `${title} (${of.name} ${of.version})`;
  return failure('agent/not-installed', { message: `${what} was not installed: ${why}.`, suggestion });
}
