import * as z from 'zod';
import { agentId } from '../ids.ts';
import { type JsonObject, jsonObject, text } from '../json.ts';
import { contextInjectionPolicy } from './context-injection.ts';
import { escalationProtocol } from './escalation.ts';
import { guardrailPolicy } from './guardrails.ts';
import { knowledgeSnapshot } from './knowledge.ts';
import { controlMode, count, name } from './scales.ts';
import { workspaceRequirements } from './workspace.ts';

/** A secret by name. Its value is known to the adapter's process only. */
export const secretRef = z.strictObject({
  name,
  vaultKey: name,
  /** Who may use it: this agent, or every agent of the project. */
  scope: z.enum(['agent', 'project']),
});
export type SecretRef = Readonly<z.infer<typeof secretRef>>;

/** What the project is about. From its configuration, not from the person who starts an agent. */
export const projectBrief = z.strictObject({
  title: text,
  description: text,
  goals: z.array(text).readonly(),
  checkpoints: z.array(text).readonly(),
});
export type ProjectBrief = Readonly<z.infer<typeof projectBrief>>;

/** A server of MCP tools. Values of `env` and `headers` name secrets as `$NAME`, and never hold one. */
export const mcpServerConfig = z.discriminatedUnion('transport', [
  z.strictObject({
    transport: z.literal('stdio'),
    name,
    command: text.min(1),
    args: z.array(text).readonly().optional(),
    env: z.record(name, text).optional(),
  }),
  z.strictObject({
    transport: z.literal('http'),
    name,
    url: z.url({ protocol: /^https?$/ }),
    headers: z.record(name, text).optional(),
  }),
]);
export type McpServerConfig = Readonly<z.infer<typeof mcpServerConfig>>;

export const delegationPolicy = z.strictObject({
  canSpawnSubagents: z.boolean(),
  allowedHandoffs: z.array(agentId).readonly(),
  maxDepth: count,
});
export type DelegationPolicy = Readonly<z.infer<typeof delegationPolicy>>;

/** The turns that `recent_n` keeps unless told otherwise. */
export const DEFAULT_HISTORY_TURNS = 50;

export const sessionPolicy = z
  .strictObject({
    maxTurns: z.int().positive().optional(),
    contextBudgetTokens: z.int().positive().optional(),
    historyPolicy: z.enum(['full', 'summarized', 'recent_n']),
    historyN: z.int().positive().optional(),
  })
  .refine(({ historyPolicy, historyN }) => historyN === undefined || historyPolicy === 'recent_n', {
    path: ['historyN'],
    error: 'belongs to historyPolicy "recent_n" only',
  });
export type SessionPolicy = Readonly<z.infer<typeof sessionPolicy>>;

/** What an agent is: its role, scope, rules, tools and limits. It holds no trust and no value of a secret. */
export const agentBrief = z.strictObject({
  agentId,
  role: name,
  description: text,
  /** The one that it writes to. */
  workstream: name,
  readableWorkstreams: z.array(name).readonly(),
  constraints: z.array(text).readonly(),
  escalationProtocol,
  /** The project's mode when the brief was made. Decisions follow the project's mode of now. */
  controlMode,
  projectBrief,
  knowledgeSnapshot,
  modelPreference: name.optional(),
  allowedTools: z.array(name).readonly(),
  mcpServers: z.array(mcpServerConfig).readonly().optional(),
  workspaceRequirements: workspaceRequirements.optional(),
  /** A JSON Schema. */
  outputSchema: jsonObject.optional(),
  guardrailPolicy: guardrailPolicy.optional(),
  delegationPolicy: delegationPolicy.optional(),
  sessionPolicy: sessionPolicy.optional(),
  contextInjectionPolicy: contextInjectionPolicy.optional(),
  secretRefs: z.array(secretRef).readonly().optional(),
  /** Options of the vendor's that the backend need not know. */
  providerConfig: jsonObject.optional(),
});
export type AgentBrief = Readonly<z.infer<typeof agentBrief>>;

/** Any fields but the identity. */
export const briefChanges = agentBrief.omit({ agentId: true }).partial();
export type BriefChanges = Readonly<z.infer<typeof briefChanges>>;

/** Defaults for agents of one kind, to which a person adds changes. What depends on the project is filled in at the start. */
export const agentTemplate = z.strictObject({
  name,
  title: text.min(1),
  brief: briefChanges.omit({ projectBrief: true, knowledgeSnapshot: true }),
});
export type AgentTemplate = Readonly<z.infer<typeof agentTemplate>>;

/** The keys of a provider's options that are fields of the brief, and so do not belong there. `experimental` may hold any. */
export function shadowingKeys(providerConfig: JsonObject): readonly string[] {
  return Object.keys(providerConfig).filter(key => Object.hasOwn(agentBrief.shape, key));
}
