import { Bug, type ErrorEnvelope, type Json, type RunId } from '@signalbox/model';
import { type HumanNode, type StartDoubts, type TaskOutcome, type TaskProgress, workEntry } from '@signalbox/plan';
import type { AgentRunner, NodeKey, OwnToolPort, StopVerdict } from '@signalbox/runs';
import { thrownStorageFault } from '@signalbox/store';
import type { AgentInbox } from '../agents/agent-inbox.ts';
import type { SessionPorts } from '../agents/agent-session.ts';
import type { AgentTools } from '../agents/agent-tools.ts';
import { doAgentWork } from '../agents/agent-work.ts';
import type { DecisionDesk } from '../decisions/decision-desk.ts';
import { DecisionFault } from '../decisions/decision-desk.ts';
import { kindOf, outcomeOf, proposalOf } from '../decisions/human-proposal.ts';
import { askAboutLimit } from '../decisions/limit-decisions.ts';
import { askAboutDeaths } from '../decisions/owner-deaths.ts';
import { askAboutOutcome } from '../decisions/unknown-outcomes.ts';
import { keepOne } from '../keep/keep-one.ts';
import type { Reservations } from '../meter/reservations.ts';
import type { StorageDesk } from '../storage/storage-desk.ts';
import type { RemoteRequest } from '../threads/thread-api.ts';
import type { RunBudget } from './run-budget.ts';

/** Does the work that is not the plan's own code: asks people, and passes briefs to agents. */
export interface HostExecutor {
  execute(
    request: RemoteRequest,
    signal: AbortSignal,
    progress: (progress: TaskProgress) => void,
    own?: OwnToolPort,
  ): Promise<TaskOutcome>;
  /** Resolves when no work is running. */
  idle(): Promise<void>;
  /** Asks a person whether work may start; undefined if it may. */
  allow(request: RemoteRequest, doubts: StartDoubts): Promise<TaskOutcome | undefined>;
  /** Asks a person whether a run that is out of time may have more. */
  timeOver(run: RunId): Promise<void>;
}

export interface ExecutorPorts extends Omit<SessionPorts, 'verdict' | 'room' | 'progress' | 'own'> {
  readonly agents: AgentRunner;
  readonly reservations: Reservations;
  readonly budget: Pick<RunBudget, 'path' | 'verdict'>;
  readonly inbox: Pick<AgentInbox, 'open' | 'close'>;
  /** Leftovers of agents. */
  readonly tools?: AgentTools | undefined;
  /** Work that failed because of a full disk starts again when there is space. */
  readonly storage: Pick<StorageDesk, 'room'>;
  /** Called with every verdict on a run. */
  readonly onVerdict: (run: RemoteRequest['run'], verdict: StopVerdict) => void;
}

export function createHostExecutor(ports: ExecutorPorts): HostExecutor {
  const { agents, reader, decisions, reservations, budget, onVerdict } = ports;
  const going = new Set<Promise<unknown>>();
  const verdictOn = async (run: RunId) => {
    const now = await budget.verdict(run);
    onVerdict(run, now);
    return now;
  };
  return {
    async allow(request, { deaths = [], orphaned = [], isLimited = false }) {
      try {
        const limit = isLimited ? await askAboutLimit(decisions, await verdictOn(request.run)) : undefined;
        const outcome = limit ?? (await askAboutOutcome(decisions, reader, request, orphaned));
        return outcome ?? (await askAboutDeaths(decisions, request, deaths));
      } catch (error) {
        // A decision that cannot be written is a failed attempt.
        if (error instanceof DecisionFault) return notAsked(error.envelope);
        throw error;
      }
    },
    async timeOver(run) {
      await askAboutLimit(decisions, await verdictOn(run));
    },
    execute(...given) {
      const work = execute(...given);
      going.add(work);
      const over = () => void going.delete(work);
      work.then(over, over);
      return work;
    },
    async idle() {
      await Promise.allSettled(going);
    },
  };

  async function execute(
    ...[request, signal, progress, own]: Parameters<HostExecutor['execute']>
  ): Promise<TaskOutcome> {
    const { node, run } = request;
    try {
      const { by } = workEntry(node.kind);
      if (by === 'person') return await askPerson(decisions, request);
      if (by === 'host') return await keepOne(ports, request);
      if (by !== 'agent') throw new Bug(`the ${node.kind} ${node.id} is no work of the host`);
      const record = await reader.run(run);
      if (record === undefined) throw new Bug(`run ${run} does work and is not there`);
      const verdict = () => verdictOn(run);
      const path = () => budget.path(run);
      const room: SessionPorts['room'] = (wanted, until) => reservations.reserve(path, wanted, until);
      return await doAgentWork(agents, { ...ports, verdict, room, progress, own }, record, request, signal);
    } catch (error) {
      if (error instanceof DecisionFault) return notAsked(error.envelope);
      if (thrownStorageFault(error) === undefined || signal.aborted) throw error;
      if (!(await ports.storage.room(run))) throw error;
      return execute(request, signal, progress, own);
    }
  }
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
    // Plain data by its schema; its optional members keep the type from expressing that.
    proposal: proposal as Json,
  });
  return resolution === undefined
    ? { kind: 'blocked', reason: `approval_required:${kind}` }
    : outcomeOf(proposal, resolution);
}

function notAsked(envelope: ErrorEnvelope): TaskOutcome {
  return { kind: 'failed', error: { class: 'retryable', code: envelope.code, message: envelope.message } };
}
