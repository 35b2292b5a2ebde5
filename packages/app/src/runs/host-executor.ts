import { Bug, type ErrorEnvelope, type Json, type RunId } from '@signalbox/model';
import type { HumanNode, StartDoubts, TaskOutcome, TaskProgress } from '@signalbox/plan';
import type { AgentRunner, NodeKey } from '@signalbox/runs';
import type { SessionPorts } from '../agents/agent-session.ts';
import { doAgentWork } from '../agents/agent-work.ts';
import type { DecisionDesk } from '../decisions/decision-desk.ts';
import { DecisionFault } from '../decisions/decision-desk.ts';
import { kindOf, outcomeOf, proposalOf } from '../decisions/human-proposal.ts';
import { askAboutLimit } from '../decisions/limit-decisions.ts';
import { askAboutDeaths } from '../decisions/owner-deaths.ts';
import type { RemoteRequest } from '../threads/thread-api.ts';
import { stopVerdict } from './run-budget.ts';

/** Does the work that is not the plan's own code: asks people, and hands briefs to agents. */
export interface HostExecutor {
  execute(
    request: RemoteRequest,
    signal: AbortSignal,
    progress: (progress: TaskProgress) => void,
  ): Promise<TaskOutcome>;
  /** Asks a person whether work may begin; undefined where it may. */
  allow(request: RemoteRequest, doubts: StartDoubts): Promise<TaskOutcome | undefined>;
  /** Asks a person whether a run that has had its time may have more. */
  timeOver(run: RunId): Promise<void>;
}

export interface ExecutorPorts extends Omit<SessionPorts, 'verdict' | 'progress'> {
  readonly agents: AgentRunner;
  /** Told of every verdict on a run that was asked for. */
  readonly onVerdict: (run: RemoteRequest['run'], verdict: Awaited<ReturnType<typeof stopVerdict>>) => void;
}

export function createHostExecutor(ports: ExecutorPorts): HostExecutor {
  const { agents, reader, machine, decisions, onVerdict } = ports;
  const verdictOn = async (run: RunId) => {
    const now = await stopVerdict(reader, run, machine.clock);
    onVerdict(run, now);
    return now;
  };
  /** A decision that cannot be written is a failed attempt. */
  const orNotAsked = async <T>(ask: () => Promise<T>): Promise<T | TaskOutcome> => {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof DecisionFault) return notAsked(error.envelope);
      throw error;
    }
  };
  return {
    allow: (request, { deaths = [], isLimited = false }) =>
      orNotAsked(async () => {
        const limit = isLimited ? await askAboutLimit(decisions, await verdictOn(request.run)) : undefined;
        return limit ?? askAboutDeaths(decisions, request, deaths);
      }),
    async timeOver(run) {
      await askAboutLimit(decisions, await verdictOn(run));
    },
    execute(request, signal, progress) {
      const { node, run } = request;
      return orNotAsked(async () => {
        if (node.kind === 'human') return await askPerson(decisions, request);
        const record = await reader.run(run);
        if (record === undefined) throw new Bug(`run ${run} does work and is not there`);
        const verdict = () => verdictOn(run);
        return doAgentWork(agents, { ...ports, verdict, progress }, record, request, signal);
      });
    },
  };
}

async function askPerson(decisions: DecisionDesk, request: RemoteRequest): Promise<TaskOutcome> {
  const { run, task, node, totalIteration } = request;
  const proposal = proposalOf(node.data as HumanNode['data']);
  const kind = kindOf(proposal);
  const resolution = await decisions.ask({
    run,
    node: node.id as NodeKey,
    iteration: totalIteration,
    call: task,
    kind,
    // Plain data by its schema; only its optional members keep the type from saying so.
    proposal: proposal as Json,
  });
  return resolution === undefined
    ? { kind: 'blocked', reason: `approval_required:${kind}` }
    : outcomeOf(proposal, resolution);
}

function notAsked(envelope: ErrorEnvelope): TaskOutcome {
  return { kind: 'failed', error: { class: 'retryable', code: envelope.code, message: envelope.message } };
}
