import type { AgentRecord, Effect } from '@signalbox/fleet';
import {
  type AgentId,
  type AnswerBody,
  type ApprovalId,
  type ArtifactId,
  artifactId,
  type BriefChanges,
  type CoherenceIssueId,
  type ControlMode,
  coherenceIssueId,
  type ErrorEnvelope,
  err,
  failure,
  type InputOf,
  ok,
  type QueuedDecision,
  type Result,
  timestampOf,
  type WireBrakes,
  type WireCoherence,
  type WireFleetAgentDetail,
  type WireKnownArtifact,
} from '@signalbox/model';
import type { ProjectReader } from '@signalbox/runs';
import { resolutionOf } from '../contract-view/decision-view.ts';
import type { Machine } from '../machine.ts';
import type { Undated } from './agent-calls.ts';
import type { FleetHost } from './fleet-host.ts';
import { createFleetReads, type FleetReads } from './fleet-reads.ts';
import { refusalIn } from './fleet-refusals.ts';
import { decisionView } from './fleet-views.ts';

type Done<T> = Promise<Result<T, ErrorEnvelope>>;

/** What every surface does with a fleet: each call is one fact, answered once it is durable. */
export interface FleetDesk extends FleetReads {
  subscribe: FleetHost['subscribe'];
  onPublished: FleetHost['onPublished'];
  spawn(asked: InputOf<'spawnAgent'>, by: string): Done<WireFleetAgentDetail>;
  kill(agent: string, reason: string | undefined, by: string): Done<WireFleetAgentDetail>;
  pause(agent: string, reason: string | undefined, by: string): Done<WireFleetAgentDetail>;
  resume(agent: string, by: string): Done<WireFleetAgentDetail>;
  restart(agent: string, by: string): Done<WireFleetAgentDetail>;
  changeBrief(agent: string, changes: BriefChanges, by: string): Done<WireFleetAgentDetail>;
  /** Answers a decision once; a later answer gets the first one's outcome. */
  resolve(decision: string, answer: AnswerBody, by: string): Done<QueuedDecision>;
  brake(action: InputOf<'brake'>, by: string): Done<WireBrakes>;
  /** Without an id, all that are engaged. */
  releaseBrake(brake: string | undefined, by: string): Done<WireBrakes>;
  setMode(mode: ControlMode, by: string): Done<ControlMode>;
  advanceTicks(by: number): Done<ReturnType<FleetReads['ticks']>>;
  settleIssue(issue: string, as: InputOf<'settleIssue'>['as'], by: string): Done<WireCoherence>;
  reviewArtifact(artifact: string, review: InputOf<'reviewArtifact'>, by: string): Done<WireKnownArtifact>;
}

export function createFleetDesk(
  host: Pick<FleetHost, 'project' | 'state' | 'happen' | 'subscribe' | 'onPublished'>,
  log: ProjectReader,
  { clock, ids }: Pick<Machine, 'clock' | 'ids'>,
): FleetDesk {
  const { project, state, happen } = host;
  const reads = createFleetReads(project, state, log, clock);

  async function done(fact: Undated): Promise<Result<readonly Effect[], ErrorEnvelope>> {
    const happened = await happen(fact);
    if (!happened.ok) return happened;
    const refused = refusalIn(happened.value);
    return refused === undefined ? happened : err(refused);
  }

  /** Does something to an agent, and answers with the agent afterwards. */
  async function toAgent(given: string, factOf: (id: AgentId) => Undated): Done<WireFleetAgentDetail> {
    const found = reads.agent(given);
    if (!found.ok) return found;
    const happened = await done(factOf(found.value.id));
    return happened.ok ? reads.agent(given) : happened;
  }

  return {
    ...reads,
    subscribe: host.subscribe,
    onPublished: host.onPublished,
    async spawn({ name, plugin: pluginName, brief, agentId: given }, by) {
      const id = given ?? ids.mint<AgentId>();
      const before = state().agents.agents[id];
      const template = before === undefined ? {} : templateOf(before);
      const fact = { kind: 'agent_requested', agentId: id, name, pluginName, template, changes: brief, by } as const;
      const happened = await done(fact);
      return happened.ok ? reads.agent(id) : happened;
    },
    kill: (agent, reason = 'Killed by a person', by) =>
      toAgent(agent, id => ({ kind: 'kill_requested', agentId: id, by, reason })),
    pause: (agent, reason = 'Paused by a person', by) =>
      toAgent(agent, id => ({ kind: 'pause_requested', agentId: id, by, reason })),
    resume: (agent, by) => toAgent(agent, id => ({ kind: 'resume_requested', agentId: id, by })),
    restart: (agent, by) => toAgent(agent, id => ({ kind: 'restart_requested', agentId: id, by })),
    changeBrief: (agent, changes, by) => toAgent(agent, id => ({ kind: 'brief_changed', agentId: id, changes, by })),
    async resolve(given, body, by) {
      const decision = reads.decision(given);
      const item = decision && state().decisions.items[decision.decision.id];
      if (item === undefined) return err(refusalOfUnknown(given));
      const kind = item.subject.subtype === 'option' ? 'choice' : 'command_exec';
      const { proposalHash } = body;
      const fact = {
        kind: 'decision_answered',
        decisionId: item.id,
        resolution: resolutionOf(body, kind),
        by,
        ...(proposalHash === undefined ? {} : { proposalHash }),
      } as const;
      const happened = await done(fact);
      if (!happened.ok) return happened;
      return ok(decisionView(state(), state().decisions.items[item.id] ?? item));
    },
    async brake(action, by) {
      const brakeId = ids.mint<ApprovalId>();
      const happened = await done({
        kind: 'brake_pulled',
        brakeId,
        action: { ...action, initiatedBy: by, timestamp: timestampOf(clock) },
      });
      return happened.ok ? ok(reads.brakes()) : happened;
    },
    async releaseBrake(given, by) {
      const engaged = Object.values(state().control.brakes).filter(({ released }) => released === undefined);
      const chosen = engaged.filter(({ id }) => given === undefined || id === given);
      if (chosen.length === 0) return err(noBrake(given));
      for (const { id } of chosen) {
        const happened = await done({ kind: 'brake_released', brakeId: id, by });
        if (!happened.ok) return happened;
      }
      return ok(reads.brakes());
    },
    async setMode(mode, by) {
      const happened = await done({ kind: 'mode_changed', mode, by });
      return happened.ok ? ok(state().control.mode) : happened;
    },
    async advanceTicks(by) {
      if (state().config.ticks.mode !== 'manual') return err(automaticTicks());
      const happened = await done({ kind: 'ticks_advanced', by });
      return happened.ok ? ok(reads.ticks()) : happened;
    },
    async settleIssue(given, as, by) {
      const id = coherenceIssueId.safeParse(given);
      const issueId = id.success ? id.data : ('' as CoherenceIssueId);
      if (state().coherence.issues[issueId] === undefined) return err(unknownIssue(given));
      const happened = await done({ kind: 'issue_settled', issueId, as, by });
      return happened.ok ? ok(reads.coherence()) : happened;
    },
    async reviewArtifact(given, { status, expectedVersion }, by) {
      const parsed = artifactId.safeParse(given);
      const id = parsed.success ? parsed.data : ('' as ArtifactId);
      if (state().knowledge.artifacts[id] === undefined) return err(unknownArtifact(given));
      const version = expectedVersion === undefined ? {} : { expectedVersion };
      const happened = await done({ kind: 'artifact_reviewed', artifactId: id, status, ...version, by });
      if (!happened.ok) return happened;
      const after = state().knowledge.artifacts[id];
      return after === undefined ? err(unknownArtifact(given)) : ok(after);
    },
  };
}

/** What a new start takes over of an agent: its brief without what the fleet adds, and its own rules. */
function templateOf({ brief, ownProtocol }: AgentRecord): BriefChanges {
  const { agentId: _, knowledgeSnapshot: _snapshot, projectBrief: _project, controlMode: _mode, ...kept } = brief;
  return { ...kept, escalationProtocol: ownProtocol };
}

function refusalOfUnknown(given: string): ErrorEnvelope {
  return failure('decision/unknown', {
    message: `There is no decision ${given.slice(0, 64)}.`,
    suggestion: 'List the open ones with: signalbox decisions',
  });
}

function noBrake(given: string | undefined): ErrorEnvelope {
  return failure('fleet/brake-unknown', {
    message: given === undefined ? 'No brake is engaged.' : `There is no engaged brake ${given}.`,
    suggestion: 'List the brakes with GET /api/brake.',
  });
}

function unknownIssue(given: string): ErrorEnvelope {
  return failure('fleet/issue-unknown', {
    message: `There is no coherence issue ${given.slice(0, 64)}.`,
    suggestion: 'List the issues with GET /api/coherence.',
  });
}

function unknownArtifact(given: string): ErrorEnvelope {
  return failure('artifact/unknown', {
    message: `There is no artifact ${given.slice(0, 64)} of an agent.`,
    suggestion: 'List them with GET /api/knowledge/artifacts.',
  });
}

function automaticTicks(): ErrorEnvelope {
  return failure('fleet/ticks-automatic', {
    message: 'Ticks follow the wall clock; only manual ones can be advanced.',
    suggestion: 'Start the server with manual ticks to advance them.',
  });
}
