import type {
  AgentId,
  ApprovalId,
  InProcessTransport,
  PluginRegistration,
  ReplayRequest,
  Resolution,
  SerializedAgentState,
} from '@signalbox/model';

/** What a plugin is given by the fleet that it works for. */
interface PluginPorts {
  /** Where the adapter of an agent sends what the agent says. Whatever arrives here is the agent's, whomever it names. */
  transportOf(agent: AgentId): InProcessTransport;
  /** How many adapter sessions the agent had: a session that is numbered from there is new. */
  livesOf(agent: AgentId): number;
  /** The state that the agent could continue from if it died now. */
  stored(state: SerializedAgentState): void;
  /** The process of the agent ended by itself. */
  crashed(agent: AgentId, reason: string): void;
  /** Answers a decision for a person: the answers that a script contains. */
  answer(decision: ApprovalId, resolution: Resolution): void;
}

/** A plugin at work, with what its transport can do besides. */
export interface FleetPlugin extends PluginRegistration {
  /** The adapter session that a call just began, as its events name it. */
  sessionOf(agent: AgentId): string | undefined;
  /** Sends lost events again; false if they are gone. */
  replay(agent: AgentId, request: ReplayRequest): boolean;
  /** Ends everything that works for agents. */
  close(): Promise<void>;
}

export type OpenPlugin = (ports: PluginPorts) => FleetPlugin;
