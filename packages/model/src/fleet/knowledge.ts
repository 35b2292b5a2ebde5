import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { artifactKind } from '../contract/artifact.ts';
import { agentId, approvalId, artifactId, coherenceIssueId } from '../ids.ts';
import { text } from '../json.ts';
import { artifactStatus, coherenceCategory } from './agent-event.ts';
import { agentHandleStatus } from './handle-status.ts';
import { count, name, severity } from './scales.ts';

const workstreamSummary = z.strictObject({
  id: name,
  name,
  status: text,
  activeAgentIds: z.array(agentId).readonly(),
  artifactCount: count,
  pendingDecisionCount: count,
  /** One or two sentences. */
  recentActivity: text,
});
export type WorkstreamSummary = Readonly<z.infer<typeof workstreamSummary>>;

const decisionSummary = z.strictObject({
  id: approvalId,
  title: text,
  severity,
  agentId,
  subtype: z.enum(['option', 'tool_approval']),
});
export type DecisionSummary = Readonly<z.infer<typeof decisionSummary>>;

const coherenceIssueSummary = z.strictObject({
  id: coherenceIssueId,
  title: text,
  severity,
  category: coherenceCategory,
  affectedWorkstreams: z.array(name).readonly(),
});
export type CoherenceIssueSummary = Readonly<z.infer<typeof coherenceIssueSummary>>;

const artifactSummary = z.strictObject({
  id: artifactId,
  name,
  kind: artifactKind,
  status: artifactStatus,
  workstream: name,
});
export type ArtifactSummary = Readonly<z.infer<typeof artifactSummary>>;

/** Another agent, as agents see it. It has no trust: a snapshot reaches agents (R14). */
const agentSummary = z.strictObject({
  id: agentId,
  role: name,
  workstream: name,
  status: agentHandleStatus,
  /** Both are the first to go when a snapshot is too large. */
  pluginName: name.optional(),
  modelPreference: name.optional(),
});
export type AgentSummary = Readonly<z.infer<typeof agentSummary>>;

/** What an agent gets to know of its project: only workstreams that it may read, and no contents. */
export const knowledgeSnapshot = z.strictObject({
  /** Grows with every change; an agent that has this version needs nothing. */
  version: count,
  generatedAt: timestamp,
  workstreams: z.array(workstreamSummary).readonly(),
  pendingDecisions: z.array(decisionSummary).readonly(),
  recentCoherenceIssues: z.array(coherenceIssueSummary).readonly(),
  artifactIndex: z.array(artifactSummary).readonly(),
  activeAgents: z.array(agentSummary).readonly(),
  estimatedTokens: count,
});
export type KnowledgeSnapshot = Readonly<z.infer<typeof knowledgeSnapshot>>;

/** The tokens that a snapshot may take, unless told otherwise. */
export const DEFAULT_SNAPSHOT_TOKENS = 4000;
