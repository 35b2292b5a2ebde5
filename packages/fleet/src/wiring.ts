import {
  type AdapterSessionId,
  type AgentId,
  type DecisionEvent,
  type DecisionTimeoutPolicy,
  deriveId,
  type EventEnvelope,
  type EventId,
} from '@signalbox/model';
import { isLive, replacementFor } from './agents/agent-state.ts';
import { type AgentFact, stepAgents } from './agents/agents.ts';
import { assembleBrief } from './agents/assemble-brief.ts';
import { recoveryQuestion, restartTime } from './agents/recovery.ts';
import { type CoherenceFact, stepCoherence } from './coherence/coherence.ts';
import { type ControlFact, stepControl } from './control/control.ts';
import { brakeAgainst, brakesOn, isSilenced } from './control/control-state.ts';
import { isAlwaysAsked, judge } from './control/judge.ts';
import { outcomeOfToolAnswer } from './decisions/answer.ts';
import { type DecisionFact, stepDecisions } from './decisions/decisions.ts';
import { riskOf } from './decisions/tool-risk.ts';
import { type Effect, effectPhases } from './effects.ts';
import type { Fact } from './facts.ts';
import type { FleetState } from './fleet-state.ts';
import type { DecisionRisk, InnerFact, Judged } from './inner-facts.ts';
import { type KnowledgeFact, stepKnowledge } from './knowledge/knowledge.ts';
import { knowledgeSnapshot } from './knowledge/snapshot.ts';
import { routeOf } from './pipeline/event-routing.ts';
import { type PipelineFact, stepPipeline } from './pipeline/pipeline.ts';
import { kept, type Step } from './step.ts';
import { stepTrust, type TrustFact } from './trust/trust.ts';
import { trustMargin } from './trust/trust-threshold.ts';

type AnyFact = Fact | InnerFact;
type Of<Kind extends AnyFact['kind']> = Extract<AnyFact, { kind: Kind }>;
type Handler<Given> = (fleet: FleetState, fact: Given) => Step<FleetState>;

/** Each part, with its place in the state and what it needs of the configuration. */
const pipeline: Handler<PipelineFact> = (fleet, fact) =>
  placed(fleet, 'pipeline', stepPipeline(fleet.pipeline, fact, fleet.config.pipeline, fleet.ticks.current));
const agents: Handler<AgentFact> = (fleet, fact) =>
  placed(fleet, 'agents', stepAgents(fleet.agents, fact, null, fleet.ticks.current));
const control: Handler<ControlFact> = (fleet, fact) =>
  placed(fleet, 'control', stepControl(fleet.control, fact, null, fleet.ticks.current));
const trust: Handler<TrustFact> = (fleet, fact) =>
  placed(fleet, 'trust', stepTrust(fleet.trust, fact, fleet.config.trust, fleet.ticks.current));
const knowledge: Handler<KnowledgeFact> = (fleet, fact) =>
  placed(fleet, 'knowledge', stepKnowledge(fleet.knowledge, fact, null, fleet.ticks.current));
const coherence: Handler<CoherenceFact> = (fleet, fact) =>
  placed(fleet, 'coherence', stepCoherence(fleet.coherence, fact, fleet.config.coherence, fleet.ticks.current));
const decisions: Handler<DecisionFact> = (fleet, fact) => {
  const { mode } = fleet.control;
  const config = { mode, orphanGraceMs: fleet.config.decisions.orphans[mode].gracePeriodMs };
  return placed(fleet, 'decisions', stepDecisions(fleet.decisions, fact, config, fleet.ticks.current));
};

/** Which parts see a fact, in this order. A kind that is not here does not compile. */
export const handlers: { readonly [Kind in AnyFact['kind']]: readonly Handler<Of<Kind>>[] } = {
  configured: [(fleet, { config }) => kept({ ...fleet, config })],
  time_passed: [control, agents, decisions],
  ticks_advanced: [],
  fleet_restarted: [decisions],
  mode_changed: [control],
  ticked: [pipeline, trust, decisions, coherence],

  plugin_registered: [agents],
  agent_requested: [requested],
  agent_briefed: [trust, agents, moved],
  agent_joined: [joined],
  agent_seated: [trust, agents, moved],
  agent_left: [agents, moved],
  run_decision_asked: [agents],
  run_decision_answered: [runAnswered, agents],
  agent_started: [agents, moved],
  pause_requested: [agents],
  resume_requested: [unbraked(agents)],
  resume_wanted: [unbraked(agents)],
  kill_requested: [agents],
  restart_requested: [unbraked(agents)],
  agent_stopped: [control, agents, moved],
  stop_failed: [control],
  agent_crashed: [agents, moved],
  health_polled: [agents],
  checkpoint_stored: [agents],
  brief_changed: [agents],
  plugin_failed: [agents],
  crash_due: [crashDue],
  crash_judged: [agents],
  briefs_outdated: [agents],
  agent_back: [control, decisions],
  agent_gone: [decisions],
  session_began: [pipeline],
  session_ended: [pipeline],

  event_received: [received],
  events_dropped: [pipeline],
  replay_unavailable: [pipeline],
  event_arrived: [pipeline],
  event_refused: [control],
  own_event: [ownEvent],
  event_accepted: [committed, agents, active, coherence, consequences],

  decision_answered: [decisions],
  decision_dismissed: [decisions],
  resolution_delivered: [decisions],
  decision_raised: [decisions, moved],
  decision_closed: [control, agents, coherence, moved],
  timeout_due: [timeoutDue],
  timeout_fired: [decisions],
  orphan_due: [orphanDue],
  orphan_settled: [decisions],
  answer_moot: [decisions],
  tool_allowed: [control],

  trust_outcome: [trust],

  brake_pulled: [brakePulled],
  brake_released: [control],
  brake_engaged: [control],
  agents_stopped: [decisions],
  agents_released: [decisions],

  artifact_reviewed: [knowledge],
  artifact_changed: [knowledge],
  artifact_reported: [knowledge],
  artifact_stored: [coherence],
  option_raised: [coherence],
  similarities_computed: [coherence],
  reviews_returned: [coherence],
  issue_settled: [coherence, moved],
  issue_reported: [coherence, moved],
  finder_confirmed: [finderConfirmed],
  knowledge_moved: [knowledge],
};

export function isInner(effect: Effect | InnerFact): effect is InnerFact {
  return !Object.hasOwn(effectPhases, effect.kind);
}

function placed<Part extends keyof FleetState>(
  fleet: FleetState,
  part: Part,
  { state, effects }: Step<FleetState[Part]>,
): Step<FleetState> {
  return { state: fleet[part] === state ? fleet : { ...fleet, [part]: state }, effects };
}

/** Tells the others something that follows from several parts. */
function told(fleet: FleetState, ...effects: readonly (Effect | InnerFact)[]): Step<FleetState> {
  return { state: fleet, effects };
}

/** What agents may know has changed. */
function moved(fleet: FleetState, { at }: AnyFact): Step<FleetState> {
  return told(fleet, { kind: 'knowledge_moved', at });
}

/** Activity counts for trust if it is the agent's own. */
function active(fleet: FleetState, fact: Of<'event_accepted'>): Step<FleetState> {
  return fact.marks.isOwn ? kept(fleet) : trust(fleet, fact);
}

/** Nothing starts that a brake holds. What was going to start by itself does so when it is free. */
function unbraked<Given extends Of<'resume_requested' | 'resume_wanted' | 'restart_requested'>>(
  next: Handler<Given>,
): Handler<Given> {
  return (fleet, fact) => {
    const workstream = fleet.agents.agents[fact.agentId]?.brief.workstream ?? '';
    const brake = brakeAgainst(fleet.control, fact.agentId, workstream);
    if (brake === undefined) return next(fleet, fact);
    if (fact.kind === 'resume_wanted')
      return told(fleet, { kind: 'crash_judged', at: fact.at, agentId: fact.agentId, restartAt: fact.at });
    return told(fleet, {
      kind: 'request_refused',
      agentId: fact.agentId,
      code: 'braked',
      reason: `A brake holds it: ${brake.action.reason}`,
    });
  };
}

function requested(fleet: FleetState, fact: Of<'agent_requested'>): Step<FleetState> {
  const { agentId, at, pluginName, template, changes } = fact;
  const refuse = (code: 'agent_live' | 'plugin_unknown' | 'braked' | 'brief_invalid', reason: string) =>
    told(fleet, { kind: 'request_refused', agentId, code, reason });
  const before = fleet.agents.agents[agentId];
  if (before?.seat !== undefined)
    return refuse('agent_live', `Agent ${agentId} belongs to run ${before.seat.run}, which alone starts it.`);
  if (before !== undefined && isLive(before)) return refuse('agent_live', `Agent ${agentId} is ${before.status}.`);
  if (fleet.agents.plugins[pluginName] === undefined)
    return refuse('plugin_unknown', `There is no plugin ${pluginName}.`);
  const workstream = changes.workstream ?? template.workstream ?? '';
  const brake = brakeAgainst(fleet.control, agentId, workstream);
  if (brake !== undefined) return refuse('braked', `A brake holds it: ${brake.action.reason}`);
  const readable = changes.readableWorkstreams ?? template.readableWorkstreams ?? [];
  const snapshot = knowledgeSnapshot(fleet, { workstream, readable }, at, fleet.config.snapshotTokens);
  const frame = { agentId, mode: fleet.control.mode, project: fleet.config.project, snapshot };
  const assembled = assembleBrief(template, changes, frame);
  if (!assembled.ok) return refuse(assembled.error.code, assembled.error.reason);
  return told(fleet, {
    kind: 'agent_briefed',
    at,
    agentId,
    name: fact.name,
    pluginName,
    ...assembled.value,
    by: fact.by,
  });
}

/** A brake that was engaged meanwhile ends the turn that began. */
function joined(fleet: FleetState, fact: Of<'agent_joined'>): Step<FleetState> {
  const { agentId, at, name, pluginName, session, seat, changes } = fact;
  const workstream = changes.workstream ?? '';
  const readable = changes.readableWorkstreams ?? [];
  const snapshot = knowledgeSnapshot(fleet, { workstream, readable }, at, 0);
  const frame = { agentId, mode: fleet.control.mode, project: fleet.config.project, snapshot };
  const assembled = assembleBrief({}, changes, frame);
  if (!assembled.ok) {
    const { code, reason } = assembled.error;
    return told(fleet, { kind: 'request_refused', agentId, code, reason });
  }
  const brake = brakeAgainst(fleet.control, agentId, workstream);
  const how = brake?.action.behavior === 'kill' ? 'kill' : 'abort';
  return told(
    fleet,
    { kind: 'agent_seated', at, agentId, name, pluginName, session, seat, ...assembled.value },
    ...(brake === undefined ? [] : [{ kind: 'stop_agent', agentId, how, reason: brake.action.reason } as const]),
  );
}

/** An answer to a decision of a run says of its agent what it would say of any other, once. */
function runAnswered(fleet: FleetState, fact: Of<'run_decision_answered'>): Step<FleetState> {
  const { agentId, at, decisionId, resolution, toolName } = fact;
  const agent = fleet.agents.agents[agentId];
  if (agent === undefined || toolName === undefined || agent.answered?.includes(decisionId)) return kept(fleet);
  const call = { type: 'decision', subtype: 'tool_approval', agentId, decisionId, toolName, toolArgs: {} } as const;
  const { blastRadius } = riskOf(call, fleet.agents.plugins[agent.pluginName]?.toolClassifications ?? []);
  const outcome = outcomeOfToolAnswer(resolution);
  const reason = 'A person answered its decision.';
  return told(fleet, { kind: 'trust_outcome', at, agentId, outcome, blastRadius, decisionId, reason });
}

function received(fleet: FleetState, { at, agentId, payload }: Of<'event_received'>): Step<FleetState> {
  const agent = fleet.agents.agents[agentId];
  if (agent === undefined) {
    return told(fleet, {
      kind: 'request_refused',
      agentId,
      code: 'agent_unknown',
      reason: `There is no agent ${agentId}.`,
    });
  }
  return told(fleet, {
    kind: 'event_arrived',
    at,
    agentId,
    payload,
    workstream: agent.brief.workstream,
    isSilenced: isSilenced(fleet.control, agentId),
  });
}

/** An event that the fleet makes about an agent has a session and a sequence of its own, and derives its id from them. */
function ownEvent(fleet: FleetState, { at, event }: Of<'own_event'>): Step<FleetState> {
  const number = fleet.ownEvents[event.agentId] ?? 0;
  const envelope: EventEnvelope = {
    sourceEventId: deriveId<EventId>('fleet-event', event.agentId, number),
    sourceSequence: number,
    sourceOccurredAt: at,
    runId: deriveId<AdapterSessionId>('fleet-session', event.agentId),
    event,
    ingestedAt: at,
  };
  const marks = { repairs: [], unknownFields: 0, isLate: false, isOwn: true };
  return {
    state: { ...fleet, ownEvents: { ...fleet.ownEvents, [event.agentId]: number + 1 } },
    effects: [{ kind: 'event_accepted', at, envelope, marks }],
  };
}

function committed(fleet: FleetState, { envelope, marks }: Of<'event_accepted'>): Step<FleetState> {
  const route = routeOf(envelope.event);
  return told(fleet, { kind: 'commit_event', envelope, marks, route }, { kind: 'publish_event', envelope, route });
}

/** What an accepted event means for decisions and knowledge. */
function consequences(fleet: FleetState, { at, envelope, marks }: Of<'event_accepted'>): Step<FleetState> {
  const { event } = envelope;
  const agent = fleet.agents.agents[event.agentId];
  if (agent === undefined) return kept(fleet);
  const { workstream, readableWorkstreams } = agent.brief;
  if (event.type === 'artifact') {
    const sources = (event.provenance.sourceArtifactIds ?? []).map(artifactId => ({
      artifactId,
      workstream: fleet.knowledge.artifacts[artifactId]?.workstream ?? null,
    }));
    const readable = [workstream, ...readableWorkstreams];
    return told(fleet, { kind: 'artifact_reported', at, event, ownWorkstream: workstream, readable, sources });
  }
  if (event.type !== 'decision') return kept(fleet);
  const asked = raising(fleet, event, envelope.runId, marks.isOwn, at);
  return event.subtype === 'option' && !marks.isOwn
    ? told(fleet, asked, { kind: 'option_raised', at, event, workstream })
    : told(fleet, asked);
}

function raising(
  fleet: FleetState,
  event: DecisionEvent,
  session: AdapterSessionId,
  isOwn: boolean,
  at: InnerFact['at'],
): InnerFact {
  const workstream = fleet.agents.agents[event.agentId]?.brief.workstream ?? '';
  const { risk, judged } = weighed(fleet, event, session);
  const verdict =
    judged === null
      ? {
          asks: true,
          isAlwaysAsked: false,
          reason: isOwn ? 'The fleet asks a person.' : 'The agent asks a person to choose.',
        }
      : judge(judged.mode, judged.case);
  const isBraked = brakesOn(fleet.control, event.agentId).length > 0;
  const timeout = timeoutFor(fleet, event.agentId);
  return { kind: 'decision_raised', at, event, session, workstream, risk, judged, verdict, timeout, isBraked, isOwn };
}

/** The risk of a decision, and of a tool call everything that the rules look at. */
function weighed(
  fleet: FleetState,
  event: DecisionEvent,
  session: AdapterSessionId,
): { risk: DecisionRisk; judged: Judged | null } {
  const agent = fleet.agents.agents[event.agentId];
  const affectedArtifactIds = event.affectedArtifactIds ?? [];
  if (event.subtype === 'option' || agent === undefined) {
    const { severity = 'high', confidence = 0, blastRadius = 'unknown' } = event;
    const requiresRationale = event.subtype === 'option' && event.requiresRationale;
    return { risk: { severity, confidence, blastRadius, affectedArtifactIds, requiresRationale }, judged: null };
  }
  const { pattern, ...known } = riskOf(event, fleet.agents.plugins[agent.pluginName]?.toolClassifications ?? []);
  const touched = affectedArtifactIds.flatMap(id => fleet.knowledge.artifacts[id]?.workstream ?? []);
  const earned = fleet.trust[event.agentId];
  const allowed = fleet.control.allowed[event.agentId];
  const saysRisk = event.severity !== undefined && event.blastRadius !== undefined && event.confidence !== undefined;
  return {
    risk: { ...known, affectedArtifactIds },
    judged: {
      mode: fleet.control.mode,
      case: {
        call: { toolName: event.toolName, toolArgs: event.toolArgs },
        facts: {
          confidence: known.confidence,
          blastRadius: known.blastRadius,
          affectsMultipleWorkstreams: new Set([agent.brief.workstream, ...touched]).size > 1,
          trust: { score: earned?.score ?? 0, margin: trustMargin(earned?.samples ?? 0, fleet.config.trust.config) },
        },
        isClassified: pattern !== null || saysRisk,
        isAllowed: allowed?.session === session && allowed.tools.includes(event.toolName),
        own: agent.ownProtocol,
      },
    },
  };
}

function timeoutFor({ config, control: { mode } }: FleetState, agentId: AgentId): DecisionTimeoutPolicy {
  const policy = config.decisions.agentTimeouts[agentId] ?? config.decisions.timeouts[mode];
  return mode === 'orchestrator' ? { ...policy, timeoutTicks: null } : policy;
}

function timeoutDue(fleet: FleetState, { at, decisionId }: Of<'timeout_due'>): Step<FleetState> {
  const item = fleet.decisions.items[decisionId];
  if (item === undefined) return kept(fleet);
  const own = fleet.agents.agents[item.agentId]?.ownProtocol;
  const isNamed =
    item.subject.subtype === 'tool_approval' &&
    (own === undefined || isAlwaysAsked(fleet.control.mode, item.subject, own));
  return told(fleet, { kind: 'timeout_fired', at, decisionId, isAlwaysAsked: isNamed });
}

function orphanDue(fleet: FleetState, { at, decisionId }: Of<'orphan_due'>): Step<FleetState> {
  const item = fleet.decisions.items[decisionId];
  const agent = item === undefined ? undefined : fleet.agents.agents[item.agentId];
  if (item === undefined || agent === undefined) return kept(fleet);
  const policy = fleet.config.decisions.orphans[fleet.control.mode];
  const action = policy.perSubtype?.[item.subject.subtype] ?? policy.default;
  const replacement = replacementFor(fleet.agents, agent)?.id ?? null;
  return told(fleet, { kind: 'orphan_settled', at, decisionId, action, replacement });
}

function crashDue(fleet: FleetState, { at, agentId }: Of<'crash_due'>): Step<FleetState> {
  const agent = fleet.agents.agents[agentId];
  if (agent === undefined) return kept(fleet);
  const policy = fleet.config.agentCrashRecovery[agentId] ?? fleet.config.crashRecovery;
  const restartAt = restartTime(agent, fleet.trust[agentId]?.score ?? 0, policy, at);
  const startsFresh = !policy.preferResumeOverRestart;
  const judged: InnerFact = { kind: 'crash_judged', at, agentId, restartAt, startsFresh };
  return restartAt === null ? told(fleet, judged, recoveryQuestion(agent, at)) : told(fleet, judged);
}

function brakePulled(fleet: FleetState, { at, brakeId, action }: Of<'brake_pulled'>): Step<FleetState> {
  const { scope } = action;
  const affected = Object.values(fleet.agents.agents).filter(agent => {
    switch (scope.type) {
      case 'all':
        return true;
      case 'agent':
        return agent.id === scope.agentId;
      case 'workstream':
        return agent.brief.workstream === scope.workstream;
    }
    return false;
  });
  const braked = affected
    .filter(agent => isLive(agent) || agent.status === 'paused')
    .map(agent => ({
      agentId: agent.id,
      isRunning: isLive(agent),
      canPause: fleet.agents.plugins[agent.pluginName]?.capabilities.supportsPause === true,
    }));
  return told(fleet, { kind: 'brake_engaged', at, brakeId, action, agents: braked });
}

function finderConfirmed(fleet: FleetState, { at, foundBy, title }: Of<'finder_confirmed'>): Step<FleetState> {
  const agent = fleet.agents.agents[foundBy as AgentId];
  if (agent === undefined) return kept(fleet);
  const reason = `A person confirmed: ${title}`;
  return told(fleet, { kind: 'trust_outcome', at, agentId: agent.id, outcome: 'coherence_issue_confirmed', reason });
}
