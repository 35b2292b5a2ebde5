import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { type AgentId, type ApprovalId, agentId } from '../ids.ts';
import type { Result } from '../result.ts';
import { type AgentHandle, type PluginCapabilities, pluginCapabilities } from './agent-handle.ts';
import type { AgentBrief, BriefChanges } from './brief.ts';
import type { KillRequest, KillResponse, SerializedAgentState } from './checkpoints.ts';
import type { ContextInjection } from './context-injection.ts';
import { type AgentHandleStatus, agentHandleStatus } from './handle-status.ts';
import type { PluginError } from './plugin-error.ts';
import type { Resolution } from './resolution.ts';
import { count, name } from './scales.ts';
import { type ToolRiskClassification, toolRiskClassification } from './tool-risk.ts';

/**
 * One vendor's agents, behind one boundary. The backend calls it; the adapter's process does the work.
 *
 * 1. Every expected failure is a `PluginError`. Only bugs throw.
 * 2. Events are not part of it: they arrive by the transport, before, during and after every call.
 * 3. A capability that is missing makes an operation weaker, as the capability says; the operation is never refused for it.
 * 4. A resolution is delivered until it is acknowledged, so it may arrive twice: the second one is `decision_not_found`.
 * 5. A call for an agent that is not there is `invalid_state`.
 */
export interface AgentPlugin {
  readonly name: string;
  readonly version: string;
  readonly capabilities: PluginCapabilities;
  spawn(brief: AgentBrief): Promise<Result<AgentHandle, PluginError>>;
  /** Stops work. The state is what `resume` goes on from. */
  pause(handle: AgentHandle): Promise<Result<SerializedAgentState, PluginError>>;
  /** A new handle: another adapter session, whose events are counted from 0 again. */
  resume(state: SerializedAgentState): Promise<Result<AgentHandle, PluginError>>;
  kill(handle: AgentHandle, request?: KillRequest): Promise<Result<KillResponse, PluginError>>;
  resolveDecision(
    handle: AgentHandle,
    decisionId: ApprovalId,
    resolution: Resolution,
  ): Promise<Result<undefined, PluginError>>;
  injectContext(handle: AgentHandle, injection: ContextInjection): Promise<Result<undefined, PluginError>>;
  /** The handle afterwards: without `supportsHotBriefUpdate` the changes are pending in it. */
  updateBrief(handle: AgentHandle, changes: BriefChanges): Promise<Result<AgentHandle, PluginError>>;
}

/** A plugin with the risk of its tools. */
export interface PluginRegistration {
  readonly plugin: AgentPlugin;
  readonly toolClassifications: readonly ToolRiskClassification[];
}

/** A registered plugin as plain data, for lists and for the log. */
export const pluginFacts = z.strictObject({
  name,
  version: name,
  capabilities: pluginCapabilities,
  toolClassifications: z.array(toolRiskClassification).readonly(),
});
export type PluginFacts = Readonly<z.infer<typeof pluginFacts>>;

export const agentHealthStatus = z.strictObject({
  agentId,
  status: agentHandleStatus,
  pluginName: name,
  /** Milliseconds since its start. */
  uptime: count,
  eventsEmitted: count,
  lastEventAt: timestamp.nullable(),
  pendingDecisions: count,
});
export type AgentHealthStatus = Readonly<z.infer<typeof agentHealthStatus>>;

/**
 * All agents of a project, whatever their plugin.
 *
 * 1. A plugin is registered once by its name; its handles are found by the id of the agent.
 * 2. `killAll` asks every plugin at once and waits for all; one that fails does not keep others alive.
 */
export interface AgentRegistry {
  registerPlugin(registration: PluginRegistration): void;
  getHandle(agent: AgentId): AgentHandle | null;
  listHandles(filter?: { readonly status?: AgentHandleStatus; readonly pluginName?: string }): readonly AgentHandle[];
  getHealthStatus(agent: AgentId): AgentHealthStatus | null;
  spawnAgent(brief: AgentBrief, pluginName: string): Promise<Result<AgentHandle, PluginError>>;
  killAll(): Promise<void>;
}
