import { type KnowledgeSnapshot, severityRank, type Timestamp, utf8Length } from '@signalbox/model';
import { agentStanding } from '../agents/standing.ts';
import { decisionQueue } from '../decisions/decision-score.ts';
import type { FleetState } from '../fleet-state.ts';

/** Whom a snapshot is for: the workstream it works in, and those that it may read besides. */
export interface SnapshotReader {
  readonly workstream: string;
  readonly readable: readonly string[];
}

const RECENT_ISSUES = 20;
/** A token is about four bytes of JSON. */
const BYTES_PER_TOKEN = 4;

/**
 * What an agent may know of the project, within a budget of tokens. What does not fit is left out in the specification's order: coherence
 * issues, artifacts of other workstreams, details of agents, decisions of other workstreams; then whatever is longest. Trust is never in it (R14).
 */
export function knowledgeSnapshot(
  fleet: FleetState,
  reader: SnapshotReader,
  at: Timestamp,
  maxTokens: number,
): KnowledgeSnapshot {
  let snapshot = wholeSnapshot(fleet, reader, at);
  for (const trim of trims) {
    if (snapshot.estimatedTokens <= maxTokens) return snapshot;
    snapshot = counted(trim(snapshot, reader, fleet));
  }
  while (snapshot.estimatedTokens > maxTokens) {
    const shorter = withoutLongest(snapshot);
    if (shorter === undefined) return snapshot;
    snapshot = counted(shorter);
  }
  return snapshot;
}

function wholeSnapshot(fleet: FleetState, { workstream, readable }: SnapshotReader, at: Timestamp): KnowledgeSnapshot {
  const names = [...new Set([workstream, ...readable])];
  const isReadable = (name: string) => names.includes(name);
  const agents = Object.values(fleet.agents.agents).filter(({ brief }) => isReadable(brief.workstream));
  const artifacts = Object.values(fleet.knowledge.artifacts).filter(artifact => isReadable(artifact.workstream));
  const decisions = decisionQueue(fleet.decisions).filter(item => isReadable(item.workstream));
  const issues = Object.values(fleet.coherence.issues)
    .filter(({ status }) => status !== 'resolved' && status !== 'dismissed')
    .filter(({ affectedWorkstreams }) => affectedWorkstreams.some(isReadable))
    .sort((a, b) => severityRank(b.severity) - severityRank(a.severity) || b.foundAtTick - a.foundAtTick)
    .slice(0, RECENT_ISSUES);
  return counted({
    version: fleet.knowledge.version,
    generatedAt: at,
    workstreams: names.map(name => {
      const active = agents.filter(({ brief }) => brief.workstream === name);
      const own = artifacts.filter(artifact => artifact.workstream === name);
      const last = own.toSorted((a, b) => b.changedAtTick - a.changedAtTick)[0];
      const isWorking = active.some(({ status }) => status === 'running' || status === 'starting');
      return {
        id: name,
        name,
        status: isWorking ? 'active' : 'idle',
        activeAgentIds: active.map(({ id }) => id),
        artifactCount: own.length,
        pendingDecisionCount: decisions.filter(item => item.workstream === name).length,
        recentActivity: last === undefined ? 'Nothing yet.' : `${last.name} is ${last.status}.`,
      };
    }),
    pendingDecisions: decisions.map(({ id, subject, severity, agentId }) => ({
      id,
      title: subject.subtype === 'option' ? subject.title : subject.toolName,
      severity,
      agentId,
      subtype: subject.subtype,
    })),
    recentCoherenceIssues: issues.map(({ id, title, severity, category, affectedWorkstreams }) => ({
      id,
      title,
      severity,
      category,
      affectedWorkstreams,
    })),
    artifactIndex: artifacts.map(({ id, name, kind, status, workstream: of }) => ({
      id,
      name,
      kind,
      status,
      workstream: of,
    })),
    activeAgents: agents.map(({ id, brief, pluginName }) => ({
      id,
      role: brief.role,
      workstream: brief.workstream,
      status: agentStanding(fleet, id).handle,
      pluginName,
      ...(brief.modelPreference === undefined ? {} : { modelPreference: brief.modelPreference }),
    })),
    estimatedTokens: 0,
  });
}

type Trim = (snapshot: KnowledgeSnapshot, reader: SnapshotReader, fleet: FleetState) => KnowledgeSnapshot;

const trims: readonly Trim[] = [
  snapshot => ({ ...snapshot, recentCoherenceIssues: snapshot.recentCoherenceIssues.slice(0, 3) }),
  (snapshot, { workstream }) => ({
    ...snapshot,
    artifactIndex: snapshot.artifactIndex.filter(artifact => artifact.workstream === workstream),
  }),
  snapshot => ({
    ...snapshot,
    activeAgents: snapshot.activeAgents.map(({ id, role, workstream, status }) => ({ id, role, workstream, status })),
  }),
  (snapshot, { workstream }, { decisions }) => ({
    ...snapshot,
    pendingDecisions: snapshot.pendingDecisions.filter(({ id }) => decisions.items[id]?.workstream === workstream),
  }),
];

/** Takes the last entry from the longest list; undefined if all are empty. */
function withoutLongest(snapshot: KnowledgeSnapshot): KnowledgeSnapshot | undefined {
  const lists = ['artifactIndex', 'pendingDecisions', 'activeAgents', 'recentCoherenceIssues', 'workstreams'] as const;
  const [longest] = lists.toSorted((a, b) => snapshot[b].length - snapshot[a].length);
  if (longest === undefined || snapshot[longest].length === 0) return undefined;
  const kept = Math.floor(snapshot[longest].length * 0.8);
  return { ...snapshot, [longest]: snapshot[longest].slice(0, kept) };
}

function counted(snapshot: KnowledgeSnapshot): KnowledgeSnapshot {
  return { ...snapshot, estimatedTokens: Math.ceil(utf8Length(JSON.stringify(snapshot)) / BYTES_PER_TOKEN) };
}
