import path from 'node:path';
import type { AgentNode } from '@signalbox/plan';
import type { Assignment, RunRecord } from '@signalbox/runs';
import { planDirectory } from '../host/plan-files.ts';

/** Which work it is, and which attempt at it. */
export type AssignedWork = Pick<Assignment, 'run' | 'task' | 'node' | 'iteration' | 'attempt'>;

/** What an agent is asked to do: its node, and where the run works. */
export function assignmentOf(
  record: RunRecord,
  { run, task, node, iteration, attempt }: AssignedWork,
  { kind, data }: Pick<AgentNode, 'kind' | 'data'>,
): Assignment {
  const plan = planDirectory(record);
  const base = record.workingDirectory ?? plan;
  return {
    run,
    task,
    node,
    iteration,
    attempt,
    vendor: kind === 'agent' ? 'any' : kind,
    prompt: data.prompt,
    permissions: data.permissions,
    maxTurns: data.maxTurns,
    resume: data.resume,
    directory: data.cwd === undefined ? base : path.resolve(base, data.cwd),
    planDirectory: plan,
    ...(data.plugin === undefined ? {} : { plugin: data.plugin }),
    ...(data.apply === undefined ? {} : { apply: data.apply }),
    ...(data.check === undefined ? {} : { check: data.check }),
    ...(data.model === undefined ? {} : { model: data.model }),
    ...(data.system === undefined ? {} : { system: data.system }),
    ...(data.tools === undefined ? {} : { tools: data.tools }),
    ...(data.mcp === undefined ? {} : { mcp: data.mcp }),
    ...(data.schema === undefined ? {} : { schema: data.schema }),
    ...(data.maxTokens === undefined ? {} : { maxTokens: data.maxTokens }),
    ...(data.history === undefined ? {} : { history: data.history }),
  };
}
