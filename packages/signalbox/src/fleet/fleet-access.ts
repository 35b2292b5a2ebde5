import path from 'node:path';
import { usageError } from '@signalbox/app';
import { createFleetReads, type FleetReads, projectIdOf, readFleet, unservedReads } from '@signalbox/app/fleet';
import { type ErrorEnvelope, isOwned, openReader, type Result, thisMachine } from '@signalbox/app/host';
import type { Client } from '@signalbox/client';
import { askedDataDirectory, type DataFlags } from '../data-directory-option.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../exit-code.ts';
import { reportError, type Terminal } from '../terminal.ts';
import { ownerClient } from '../users/owner-client.ts';

type Answered<T> = Result<T, ErrorEnvelope> | Promise<Result<T, ErrorEnvelope>>;

/** Asks the server of the data directory; only it acts on agents. */
export async function withFleet<T>(
  terminal: Terminal,
  flags: DataFlags,
  ask: (client: Client) => Answered<T>,
  show: (value: T) => readonly string[],
): Promise<ExitCode> {
  const directory = askedDataDirectory(flags.dataDir);
  const client = await ownerClient(directory);
  const answered = client === undefined ? { ok: false as const, error: notServed(directory) } : await ask(client);
  return told(terminal, flags, answered, show);
}

/** Reads a fleet, whether or not its server runs. */
export async function withFleetReads<T>(
  terminal: Terminal,
  flags: DataFlags,
  read: (fleet: FleetReads) => Answered<T>,
  show: (value: T) => readonly string[],
): Promise<ExitCode> {
  const directory = askedDataDirectory(flags.dataDir);
  const opened = openReader({ path: path.join(directory, 'db.sqlite') });
  if (!opened.ok) return told(terminal, flags, opened, () => []);
  try {
    const projects = opened.value.projects().map(({ id }) => id);
    const own = projectIdOf(process.cwd());
    const [only] = projects.length === 1 ? projects : [];
    const project = projects.includes(own) ? own : (only ?? own);
    const { state } = readFleet(opened.value, project);
    const reads = createFleetReads(project, () => state, opened.value, thisMachine().clock);
    return told(terminal, flags, await read(isOwned(directory) === false ? unservedReads(reads) : reads), show);
  } finally {
    opened.value.close();
  }
}

function told<T>(
  terminal: Terminal,
  { json = false }: DataFlags,
  answered: Result<T, ErrorEnvelope>,
  show: (value: T) => readonly string[],
): ExitCode {
  if (!answered.ok) {
    reportError(terminal, answered.error, json);
    return exitCodeOf(answered.error);
  }
  const lines = json ? jsonLines(answered.value) : show(answered.value);
  for (const line of lines) terminal.print(line);
  return exitCodes.done;
}

const jsonLines = (value: unknown) =>
  Array.isArray(value) ? value.map(item => JSON.stringify(item)) : [JSON.stringify(value)];

function notServed(directory: string): ErrorEnvelope {
  return usageError(
    `No server runs agents for ${directory}.`,
    'Start one with "signalbox serve"; "signalbox serve --scenario david" plays sample agents.',
  );
}

/** The one agent with this name, or whose id begins so. */
export function findAgent<Agent extends { readonly id: string; readonly name: string }>(
  agents: readonly Agent[],
  given: string,
): Result<Agent, ErrorEnvelope> {
  const byName = agents.filter(({ name }) => name === given);
  const found = byName.length > 0 ? byName : agents.filter(({ id }) => id.startsWith(given));
  const [agent] = found;
  if (agent !== undefined && found.length === 1) return { ok: true, value: agent };
  const what = found.length === 0 ? `There is no agent ${given}.` : `${found.length} agents are called ${given}.`;
  return { ok: false, error: usageError(what, 'List the agents with "signalbox fleet ls", and pass the id of one.') };
}
