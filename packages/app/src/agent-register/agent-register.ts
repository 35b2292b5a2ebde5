import { AGENT_ROWS, type AgentRow, type InstalledAgent } from '@signalbox/adapters/agents';
import { err, ok, type Result } from '@signalbox/model';
import type { Assignment } from '@signalbox/runs';
import { readCustomAgents } from './custom-agents.ts';
import { findInstalled } from './installed-agents.ts';

/** The agents that can be used: the rows of the register, and the commands of the configuration. */
export interface AgentRegister {
  rows(): Result<readonly AgentRow[], string>;
  /** The agent's program on this machine; undefined if there is none. */
  installed(row: AgentRow): InstalledAgent | undefined;
  /** The agent that does the work of an assignment: one that is installed, or the one that comes along. */
  choose(assignment: Pick<Assignment, 'vendor' | 'plugin' | 'tools' | 'mcp'>): AgentChoice;
}

type AgentChoice =
  | { readonly kind: 'builtin' }
  | { readonly kind: 'installed'; readonly row: AgentRow; readonly installed: InstalledAgent }
  | { readonly kind: 'missing'; readonly message: string };

/** The name of the agent that comes along. */
export const BUILTIN = 'builtin';

export interface RegisterOptions {
  readonly dataDirectory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly rows?: readonly AgentRow[];
}

export function openAgentRegister({ dataDirectory, env, rows = AGENT_ROWS }: RegisterOptions): AgentRegister {
  const all = (): Result<readonly AgentRow[], string> => {
    const custom = readCustomAgents(dataDirectory);
    if (!custom.ok) return custom;
    const names = new Set(custom.value.map(({ id }) => id));
    return ok([...rows.filter(({ id }) => !names.has(id)), ...custom.value]);
  };
  const installed = (row: AgentRow) => findInstalled(row, dataDirectory, env);

  function named(plugin: string, known: readonly AgentRow[]): AgentChoice {
    const row = known.find(({ id }) => id === plugin);
    if (row === undefined) {
      const names = [BUILTIN, ...known.map(({ id }) => id)].join(', ');
      return missing(`There is no agent ${JSON.stringify(plugin)}. Known agents: ${names}.`);
    }
    const found = installed(row);
    if (found !== undefined) return { kind: 'installed', row, installed: found };
    if (row.package === undefined)
      return missing(`The program ${JSON.stringify(row.start.file)} of agent ${plugin} was not found.`);
    return missing(`The agent ${plugin} is not installed. Install it with: signalbox agents add ${plugin}`);
  }

  return {
    rows: all,
    installed,
    choose({ vendor, plugin, tools, mcp }) {
      if (plugin === BUILTIN) return { kind: 'builtin' };
      const known = all();
      if (plugin !== undefined) return known.ok ? named(plugin, known.value) : missing(known.error);
      // Only the built-in agent can be given tools.
      const isGivenTools = tools?.own !== undefined || mcp !== undefined;
      if (!known.ok || vendor === 'any' || isGivenTools) return { kind: 'builtin' };
      // A program that happens to be on the PATH takes part only by name.
      for (const row of known.value.filter(each => each.vendor === vendor)) {
        const found = installed(row);
        if (found !== undefined && found.from !== 'PATH') return { kind: 'installed', row, installed: found };
      }
      return { kind: 'builtin' };
    },
  };
}

function missing(message: string): AgentChoice {
  return { kind: 'missing', message };
}

/** The row of an agent by its name, or why there is none. */
export function rowOf(register: AgentRegister, name: string): Result<AgentRow, string> {
  const rows = register.rows();
  if (!rows.ok) return rows;
  const row = rows.value.find(({ id }) => id === name);
  if (row !== undefined) return ok(row);
  const names = rows.value.map(({ id }) => id).join(', ');
  return err(`There is no agent ${JSON.stringify(name)}. Known agents: ${names || 'none'}.`);
}

/** The variables of which an agent needs one to reach its models, if none of them is set. */
export function missingKeys(row: AgentRow, env: RegisterOptions['env']): string | undefined {
  const keys = row.variables.filter(name => /KEY|TOKEN/.test(name));
  return keys.length === 0 || keys.some(name => env[name] !== undefined) ? undefined : keys.join(' or ');
}
