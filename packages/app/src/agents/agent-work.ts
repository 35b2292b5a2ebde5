import path from 'node:path';
import type { AgentNode, TaskOutcome } from '@signalbox/plan';
import { type AgentBrief, type AgentRunner, HELD_BACK, type NodeKey, type RunRecord } from '@signalbox/runs';
import { planDirectory } from '../runs/plan-files.ts';
import type { RemoteRequest } from '../threads/thread-api.ts';
import { HeldBack, openAgentSession, SessionFault, type SessionPorts } from './agent-session.ts';

/** One attempt of an agent at the work of its node. */
export async function doAgentWork(
  runner: AgentRunner,
  ports: SessionPorts,
  record: RunRecord,
  request: RemoteRequest,
  signal: AbortSignal,
): Promise<TaskOutcome> {
  const brief = briefOf(record, request);
  const session = await openAgentSession(ports, brief, signal);
  try {
    return await runner.run(brief, session);
  } catch (error) {
    if (error instanceof HeldBack) {
      const { message, retryAfterMs } = error;
      return { kind: 'failed', error: { class: 'retryable', code: HELD_BACK, message, retryAfterMs } };
    }
    if (!(error instanceof SessionFault)) throw error;
    return { kind: 'failed', error: { class: 'retryable', code: 'not-kept', message: error.message } };
  } finally {
    await session.close().catch(() => undefined);
  }
}

function briefOf(record: RunRecord, request: RemoteRequest): AgentBrief {
  const { run, task, node, totalIteration, attempt } = request;
  const data = node.data as AgentNode['data'];
  const plan = planDirectory(record);
  return {
    run,
    task,
    node: node.id as NodeKey,
    iteration: totalIteration,
    attempt,
    vendor: node.kind === 'agent' ? 'any' : (node.kind as AgentBrief['vendor']),
    prompt: data.prompt,
    permissions: data.permissions,
    maxTurns: data.maxTurns,
    resume: data.resume,
    directory:
      data.cwd === undefined
        ? (record.workingDirectory ?? plan)
        : path.resolve(record.workingDirectory ?? plan, data.cwd),
    planDirectory: plan,
    ...(data.plugin === undefined ? {} : { plugin: data.plugin }),
    ...(data.model === undefined ? {} : { model: data.model }),
    ...(data.system === undefined ? {} : { system: data.system }),
    ...(data.tools === undefined ? {} : { tools: data.tools }),
    ...(data.schema === undefined ? {} : { schema: data.schema }),
    ...(data.maxTokens === undefined ? {} : { maxTokens: data.maxTokens }),
    ...(data.history === undefined ? {} : { history: data.history }),
  };
}
