import type { AgentRow } from '@signalbox/adapters/agents';
import { err, ok, type Result } from '@signalbox/model';
import * as z from 'zod';
import { CONFIG_FILE, readConfigPart } from '../settings/config-file.ts';

const name = z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, 'it must be a short name in lower case');
const word = z.string().regex(/^[^\0]*$/, 'it must not contain a null character');
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'it must be the name of a variable');

const custom = z.strictObject({
  command: z.array(word).min(1).describe('The program and its arguments. It speaks ACP on its standard streams.'),
  title: z.string().min(1).optional(),
  variables: z.array(variable).default([]).describe('Names of the variables that it sees.'),
  settings: z
    .record(variable, word)
    .default({})
    .describe('Variables that are set for it. `{home}` and `{root}` are replaced.'),
  mode: z.string().min(1).optional().describe('The mode in which it asks before it changes something.'),
});

export const agentsPart = z.record(
  name.refine(given => given !== 'builtin', 'builtin is the agent that comes along'),
  custom,
);

/** The commands of `agents` in the data directory's configuration, as rows of the register. */
export function readCustomAgents(dataDirectory: string): Result<readonly AgentRow[], string> {
  const read = readConfigPart(dataDirectory, 'agents', agentsPart);
  if (!read.ok) return err(`${CONFIG_FILE} cannot be used: ${read.error}`);
  return ok(Object.entries(read.value ?? {}).map(([id, given]) => rowOf(id, given)));
}

function rowOf(id: string, { command, title = id, variables, settings, mode }: z.infer<typeof custom>): AgentRow {
  const [file = '', ...args] = command;
  return {
    ...{ id, title, vendor: 'any', variables, settings, homeFiles: {} },
    start: { kind: 'program', file, args },
    asking: mode === undefined ? { kind: 'settings' } : { kind: 'mode', mode },
    unasked: ['read', 'search', 'think'],
    reports: { usage: false, cost: false },
    files: 'own',
    quirks: [],
    isTried: false,
  };
}
