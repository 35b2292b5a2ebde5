import type { AgentNode, TaskOutcome } from '@signalbox/plan';
import { type AgentRunner, HELD_BACK, type NodeKey, type RunRecord } from '@signalbox/runs';
import type { RemoteRequest } from '../threads/thread-api.ts';
import type { AgentInbox } from './agent-inbox.ts';
import { HeldBack, openAgentSession, SessionFault, type SessionPorts } from './agent-session.ts';
import { assignmentOf } from './assignment.ts';

/** One attempt of an agent at the work of its node. */
export async function doAgentWork(
  runner: AgentRunner,
  ports: SessionPorts & { readonly inbox: Pick<AgentInbox, 'open' | 'close'> },
  record: RunRecord,
  request: RemoteRequest,
  signal: AbortSignal,
): Promise<TaskOutcome> {
  const { node, totalIteration: iteration, ...of } = request;
  const assignment = assignmentOf(record, { ...of, node: node.id as NodeKey, iteration }, node as AgentNode);
  const { inbox } = ports;
  const session = await inbox.open(assignment.task, () => openAgentSession(ports, assignment, signal));
  try {
    return await runner.run(assignment, session);
  } catch (error) {
    if (error instanceof HeldBack) {
      const { message, retryAfterMs } = error;
      return { kind: 'failed', error: { class: 'retryable', code: HELD_BACK, message, retryAfterMs } };
    }
    if (!(error instanceof SessionFault)) throw error;
    return { kind: 'failed', error: { class: 'retryable', code: 'not-kept', message: error.message } };
  } finally {
    inbox.close(assignment.task, session);
    await session.close().catch(() => undefined);
  }
}
