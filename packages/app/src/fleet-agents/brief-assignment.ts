import * as fs from 'node:fs';
import path from 'node:path';
import { type AgentBrief, err, ok, type Result, type RunId } from '@signalbox/model';
import type { Assignment, NodeKey, TaskId } from '@signalbox/runs';

/** As many as an agent of a plan has unless told otherwise. */
const MAX_TURNS = 50;

/** What a sandbox of one of our layers has; everything else would be promised and not kept. */
const KEPT_CAPABILITIES: ReadonlySet<string> = new Set(['terminal', 'git', 'network_external']);

/**
 * What an agent of the fleet is asked to do, from its brief. A brief that asks for something that installed agents are not given is refused:
 * nothing of it is silently left out.
 */
export function assignmentOfBrief(
  brief: AgentBrief,
  { plugin, project, task }: { readonly plugin: string; readonly project: string; readonly task: TaskId },
): Result<Assignment, string> {
  const unmet = unmetBy(brief);
  if (unmet !== undefined) return err(unmet);
  const [mount] = brief.workspaceRequirements?.mounts ?? [];
  const directory = path.resolve(project, mount?.hostPath ?? '.');
  const found = directoryFault(directory, project);
  if (found !== undefined) return err(found);
  const { modelPreference, allowedTools, outputSchema, sessionPolicy } = brief;
  return ok({
    // A folder of its own for checkpoints. It is no id of a run, so that no run is taken for it.
    run: `fleet-${brief.agentId}` as RunId,
    task,
    node: 'agent' as NodeKey,
    iteration: 0,
    attempt: 1,
    vendor: 'any',
    plugin,
    prompt: brief.description.trim() === '' ? `Work as ${brief.role}.` : brief.description,
    system: systemOf(brief),
    permissions: 'gated',
    maxTurns: sessionPolicy?.maxTurns ?? MAX_TURNS,
    resume: 'continue',
    directory,
    planDirectory: project,
    ...(modelPreference === undefined ? {} : { model: modelPreference }),
    ...(allowedTools.length === 0 ? {} : { tools: { allow: allowedTools } }),
    ...(outputSchema === undefined ? {} : { schema: outputSchema }),
  });
}

function unmetBy(brief: AgentBrief): string | undefined {
  const { workspaceRequirements: place, guardrailPolicy, delegationPolicy, providerConfig = {} } = brief;
  if ((brief.secretRefs ?? []).length > 0)
    return 'Installed agents are given no secrets of a brief ("secretRefs"). Name variables in the configuration of the agent instead.';
  if (guardrailPolicy !== undefined) return 'Installed agents have no guardrails ("guardrailPolicy").';
  if (delegationPolicy?.canSpawnSubagents === true)
    return 'Installed agents start no agents of the fleet ("delegationPolicy.canSpawnSubagents").';
  if ((brief.mcpServers ?? []).length > 0)
    return 'Installed agents are given no MCP servers of a brief ("mcpServers").';
  const [option] = Object.keys(providerConfig);
  if (option !== undefined) return `Installed agents have no option ${JSON.stringify(option)} ("providerConfig").`;
  if (place === undefined) return undefined;
  if (place.mounts.length > 1)
    return 'An installed agent works in one directory; "workspaceRequirements" has several mounts.';
  if (place.mounts[0]?.readOnly === true)
    return 'An installed agent works in a directory that it may change, after a person approved; a read-only mount is not offered.';
  const capability = place.capabilities.find(one => !KEPT_CAPABILITIES.has(one));
  if (capability !== undefined)
    return `The sandbox of installed agents has no capability ${JSON.stringify(capability)}.`;
  if (place.resourceLimits !== undefined || place.baseImage !== undefined)
    return 'The sandbox of installed agents has no resource limits and no image ("workspaceRequirements").';
  return undefined;
}

/** Links count as what they lead to: the agent must not leave the project by one. */
function directoryFault(directory: string, project: string): string | undefined {
  try {
    const inside = path.relative(fs.realpathSync(project), fs.realpathSync(directory));
    if (inside.split(path.sep)[0] === '..' || path.isAbsolute(inside)) return `${directory} leads out of the project.`;
    return fs.statSync(directory).isDirectory() ? undefined : `${directory} is not a directory.`;
  } catch {
    return `There is no directory ${directory}.`;
  }
}

function systemOf({ role, workstream, constraints, projectBrief, knowledgeSnapshot }: AgentBrief): string {
  const { title, description, goals } = projectBrief;
  const { artifactIndex, workstreams } = knowledgeSnapshot;
  const isNews = artifactIndex.length > 0 || workstreams.length > 1;
  const parts = [
    `You are ${role}, and work in the workstream "${workstream}" of the project "${title}".`,
    ...(description === '' ? [] : [description]),
    ...(goals.length === 0 ? [] : [`The project's goals:\n${listed(goals)}`]),
    ...(constraints.length === 0 ? [] : [`Keep to these constraints:\n${listed(constraints)}`]),
    ...(isNews ? [`What the project knows so far, as JSON:\n${JSON.stringify(knowledgeSnapshot)}`] : []),
  ];
  return parts.join('\n\n');
}

const listed = (lines: readonly string[]) => lines.map(line => `- ${line}`).join('\n');
