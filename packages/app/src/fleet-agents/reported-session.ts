import type { AgentId, Resolution } from '@signalbox/model';
import { isJsonObject } from '@signalbox/model';
import type { AgentSession, Assignment } from '@signalbox/runs';
import { type AgentQuestion, decisionIdOf } from '@signalbox/runs';
import type { Undated } from '../fleet/agent-calls.ts';
import type { EventSender } from './event-sender.ts';
import type { WorkEvents } from './work-events.ts';

interface ReportPorts {
  readonly agent: AgentId;
  readonly assignment: Pick<Assignment, 'run' | 'node' | 'iteration'>;
  readonly sender: Pick<EventSender, 'send'>;
  readonly events: WorkEvents;
  readonly tell: (fact: Undated) => void;
  /** Ends the turn before its run does. */
  readonly signal: AbortSignal;
}

/**
 * The session of a plan's agent, which tells the fleet what happens in it. Nothing here is awaited, and nothing fails because of the
 * fleet: what counts is in the run. A question is the run's; the fleet is told that it is open.
 */
export function reportedSession(session: AgentSession, ports: ReportPorts): AgentSession {
  const { agent, assignment, sender, events, tell, signal } = ports;
  const { run, node, iteration } = assignment;
  const isStopped = new Promise<undefined>(resolve => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
    if (signal.aborted) resolve(undefined);
  });

  async function asked(question: AgentQuestion, ask: () => Promise<Resolution | undefined>) {
    const decisionId = decisionIdOf(run, node, iteration, question.call);
    tell({ kind: 'run_decision_asked', agentId: agent, decisionId });
    // A caller that waits for the answer after that does not get it: the next session asks again.
    const resolution = await Promise.race([ask(), isStopped]);
    if (resolution === undefined) return undefined;
    const tool = isJsonObject(question.proposal) ? question.proposal.tool : undefined;
    const toolName = typeof tool === 'string' && tool !== '' ? { toolName: tool.slice(0, 256).toWellFormed() } : {};
    tell({ kind: 'run_decision_answered', agentId: agent, decisionId, resolution, ...toolName });
    return resolution;
  }

  return {
    ...session,
    signal,
    async keep(messages) {
      const kept = await session.keep(messages);
      for (const entry of kept) for (const event of events.kept(entry)) sender.send(event);
      return kept;
    },
    stream(kind, payload) {
      session.stream(kind, payload);
      for (const event of events.streamed(kind, payload)) sender.send(event);
    },
    vendor(eventType, payload) {
      for (const event of events.raw(eventType, payload)) sender.send(event);
    },
    async admit(model, estimate) {
      const admitted = session.admit(model, estimate);
      const admission = await Promise.race([admitted, isStopped]);
      if (admission !== undefined) return admission;
      // A place that is got too late is given back.
      admitted.then(
        late => late.kind === 'go' && late.release(),
        () => undefined,
      );
      return { kind: 'stop', reason: 'the work was canceled' };
    },
    async spend(usage) {
      await session.spend(usage);
      for (const event of events.spent(usage)) sender.send(event);
    },
    decide: question => asked(question, () => session.decide(question)),
    answered: (question, ms) => asked(question, () => session.answered(question, ms)),
  };
}
