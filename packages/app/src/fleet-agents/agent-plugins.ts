import type { AgentRow } from '@signalbox/adapters/agents';
import type { BlastRadius, Json, PluginCapabilities, Severity, ToolRiskClassification } from '@signalbox/model';
import type { AgentRunner } from '@signalbox/runs';
import { type AgentRegister, BUILTIN } from '../agent-register/agent-register.ts';
import type { OpenPlugin } from '../fleet/fleet-plugin.ts';
import type { Machine } from '../machine.ts';
import type { AgentTranscripts } from './agent-transcript.ts';
import { runnerPlugin } from './runner-plugin.ts';

export interface AgentPluginsOptions {
  readonly runner: AgentRunner;
  readonly register: AgentRegister;
  readonly machine: Pick<Machine, 'clock' | 'ids' | 'timers'>;
  readonly transcripts: AgentTranscripts;
  readonly project: string;
  readonly clean: <T extends Json>(given: T) => T;
}

/** A plugin for each agent that can be used here, the one that comes along included. Its name is the agent's. */
export function agentPlugins({ register, ...options }: AgentPluginsOptions): readonly OpenPlugin[] {
  const rows = register.rows();
  const missing = (plugin: string) => () => {
    const choice = register.choose({ vendor: 'any', plugin });
    return choice.kind === 'missing' ? choice.message : undefined;
  };
  const known = rows.ok ? rows.value : [];
  return [
    ...known.map(row =>
      runnerPlugin({
        ...options,
        name: row.id,
        version: row.package?.version ?? 'own',
        capabilities: capabilitiesOf(row),
        toolClassifications,
        missing: missing(row.id),
      }),
    ),
    runnerPlugin({
      ...options,
      name: BUILTIN,
      version: '1',
      capabilities: { ...NONE, supportsResume: true },
      toolClassifications,
      missing: missing(BUILTIN),
    }),
  ];
}

const NONE: PluginCapabilities = {
  supportsPause: false,
  supportsResume: false,
  supportsKill: true,
  supportsHotBriefUpdate: false,
};

/** Nothing over ACP stands still: a pause ends the process. A session that can be continued is resumed in it. */
function capabilitiesOf({ continues }: AgentRow): PluginCapabilities {
  return { ...NONE, supportsResume: continues !== undefined && continues.length > 0 };
}

/**
 * The risk of tools by their names with the agents that were tried, and by the kinds of the protocol where a tool has no name. What is not
 * here is for a person in every mode.
 */
const toolClassifications: readonly ToolRiskClassification[] = [
  ...classified('low', 'trivial', [
    'read',
    'Read',
    'read_file',
    'view',
    'search',
    'Grep',
    'Glob',
    'LS',
    'list',
    'grep*',
    'glob*',
  ]),
  ...classified('medium', 'small', [
    ...['edit', 'Edit', 'MultiEdit', 'NotebookEdit', 'edit_file', 'replace', 'apply_patch', 'patch', 'str_replace*'],
    ...['write', 'Write', 'write_file', 'create', 'fs/write_text_file', 'move', '*text_editor*'],
  ]),
  ...classified('medium', 'medium', ['fetch', 'WebFetch', 'WebSearch', 'web_fetch', 'google_web_search']),
  ...classified('high', 'medium', [
    ...['execute', 'Bash', 'bash', 'shell', '*__shell', 'exec_command', 'run_command', 'run_shell_command'],
    ...['terminal/create', 'delete'],
  ]),
];

function classified(
  defaultSeverity: Severity,
  defaultBlastRadius: BlastRadius,
  patterns: readonly string[],
): readonly ToolRiskClassification[] {
  return patterns.map(toolPattern => ({
    ...{ toolPattern, defaultSeverity, defaultBlastRadius },
    ...{ defaultConfidence: 0.5, requiresRationale: false },
  }));
}
