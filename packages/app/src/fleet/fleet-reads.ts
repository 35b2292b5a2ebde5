import { type FleetState, fact as storedFact } from '@signalbox/fleet';
import {
  agentId,
  approvalId,
  type ControlMode,
  type ErrorEnvelope,
  err,
  type FleetMessage,
  failure,
  type InputOf,
  ok,
  type ProjectId,
  type QueuedDecision,
  type Result,
  type TickConfig,
  type TrustProfileName,
  type TrustProof,
  timestampOf,
  type WireBrakes,
  type WireCoherence,
  type WireDecision,
  type WireFleetAgent,
  type WireFleetAgentDetail,
  type WireFleetLog,
  type WireKnownArtifact,
  type WireTrust,
  type WireTrustSimulation,
} from '@signalbox/model';
import type { ProjectReader } from '@signalbox/runs';
import type { Machine } from '../machine.ts';
import { approvalView } from './approval-view.ts';
import { stateSync } from './fleet-feed.ts';
import { factsFrom } from './fleet-log.ts';
import {
  agentDetail,
  agentsView,
  artifactsView,
  brakesView,
  coherenceView,
  decisionView,
  queueView,
  trustView,
} from './fleet-views.ts';
import { proveTrust, trustSimulation } from './trust-proof.ts';

/** What surfaces show of a fleet, in the process that owns it and in one that reads beside it. */
export interface FleetReads {
  readonly project: ProjectId;
  /** Everything, as a watcher begins with it. */
  sync(): FleetMessage;
  plugins(): readonly string[];
  agents(): readonly WireFleetAgent[];
  agent(id: string): Result<WireFleetAgentDetail, ErrorEnvelope>;
  /** Decisions of agents that wait for a person, most urgent first. */
  queue(): readonly QueuedDecision[];
  /** The same as approvals of the contract, oldest first; those that are closed too, as long as they are kept. */
  approvals(status: 'open' | 'answered' | 'withdrawn' | 'all'): readonly WireDecision[];
  /** Undefined if it is not a decision of an agent. */
  approval(id: string): WireDecision | undefined;
  /** Undefined if it is not a decision of an agent. */
  decision(id: string): Extract<QueuedDecision, { from: 'agent' }> | undefined;
  brakes(): WireBrakes;
  mode(): ControlMode;
  trust(agent: string): Result<WireTrust, ErrorEnvelope>;
  proveTrust(agent: string): Result<TrustProof, ErrorEnvelope>;
  simulateTrust(agent: string, profile: TrustProfileName): Result<WireTrustSimulation, ErrorEnvelope>;
  ticks(): { readonly current: number; readonly config: TickConfig };
  coherence(): WireCoherence;
  artifacts(workstream: string | undefined): readonly WireKnownArtifact[];
  log(asked: InputOf<'fleetLog'>): Result<WireFleetLog, ErrorEnvelope>;
}

/** How many entries a page of the log has, unless asked for others. */
const PAGE = 100;

export function createFleetReads(
  project: ProjectId,
  state: () => FleetState,
  log: ProjectReader,
  clock: Machine['clock'],
): FleetReads {
  function detail(given: string): Result<WireFleetAgentDetail, ErrorEnvelope> {
    const id = agentId.safeParse(given);
    const agent = id.success ? state().agents.agents[id.data] : undefined;
    return agent === undefined ? err(unknownAgent(given)) : ok(agentDetail(state(), agent));
  }

  function itemOf(given: string) {
    const id = approvalId.safeParse(given);
    return id.success ? state().decisions.items[id.data] : undefined;
  }

  return {
    project,
    sync: () => stateSync(state(), timestampOf(clock)),
    plugins: () => Object.keys(state().agents.plugins),
    agents: () => agentsView(state()),
    agent: detail,
    queue: () => queueView(state()),
    approvals: status =>
      Object.values(state().decisions.items)
        .toSorted((a, b) => a.number - b.number)
        .map(item => approvalView(state(), item))
        .filter(({ decision }) => status === 'all' || decision.status === status),
    approval(given) {
      const item = itemOf(given);
      return item && approvalView(state(), item);
    },
    decision(given) {
      const item = itemOf(given);
      return item && decisionView(state(), item);
    },
    brakes: () => brakesView(state()),
    mode: () => state().control.mode,
    trust(given) {
      const id = agentId.safeParse(given);
      const view = id.success ? trustView(state(), id.data) : undefined;
      return view === undefined ? err(unknownAgent(given)) : ok(view);
    },
    proveTrust(given) {
      const agent = detail(given);
      if (!agent.ok) return agent;
      return ok(proveTrust(log.projectFacts(project, 0), agent.value.id, ({ body }) => storedFact.parse(body.fact)));
    },
    simulateTrust(given, profile) {
      const agent = detail(given);
      return agent.ok ? ok(trustSimulation(factsFrom(log, project), agent.value.id, profile)) : agent;
    },
    ticks: () => ({ current: state().ticks.current, config: state().config.ticks }),
    coherence: () => coherenceView(state()),
    artifacts: workstream => artifactsView(state(), workstream),
    log({ kind, agent, status, before, limit = PAGE }) {
      const place = before === undefined ? undefined : placeOf(before);
      if (before !== undefined && place === undefined) return err(badPlace());
      const things = log.things(project, { kind, agent, status, before: place, limit });
      return ok({
        entries: things.map(({ record, index, id, agent: of, status: is, value }) => ({
          place: `${record}.${index}`,
          id,
          ...(of === undefined ? {} : { agent: of }),
          ...(is === undefined ? {} : { status: is }),
          value,
        })),
      });
    },
  };
}

function placeOf(given: string): { readonly record: number; readonly index: number } | undefined {
  const [, record, index] = /^(\d{1,12})\.(\d{1,6})$/.exec(given) ?? [];
  return record === undefined || index === undefined ? undefined : { record: Number(record), index: Number(index) };
}

function badPlace(): ErrorEnvelope {
  return failure('VALIDATION_ERROR', {
    message: '"before" must be the place of an entry.',
    suggestion: 'Pass the place of the last entry of the previous page.',
  });
}

function unknownAgent(given: string): ErrorEnvelope {
  return failure('fleet/agent-unknown', {
    message: `There is no agent ${given.slice(0, 64)}.`,
    suggestion: 'List the agents with: signalbox fleet ls',
  });
}
