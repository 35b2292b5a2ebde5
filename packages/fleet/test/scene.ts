import {
  type AdapterSessionId,
  type AgentBrief,
  type AgentEvent,
  type AgentId,
  type ApprovalId,
  type ArtifactId,
  deriveId,
  type EventId,
  type Json,
  type PluginCapabilities,
  type Resolution,
  type Timestamp,
  type ToolRiskClassification,
} from '@signalbox/model';
import { defaultFleetConfig, type FleetConfig } from '../src/config.ts';
import { type Effect, emptyFleet, type Fact, type FleetState, stepFleet } from '../src/index.ts';

export const agentNamed = (name: string) => deriveId<AgentId>('test-agent', name);
export const sessionNamed = (name: string) => deriveId<AdapterSessionId>('test-session', name);
export const decisionNamed = (name: string) => deriveId<ApprovalId>('test-decision', name);
export const artifactNamed = (name: string) => deriveId<ArtifactId>('test-artifact', name);
export const brakeNamed = (name: string): string => deriveId<EventId>('test-brake', name);

/** A time that many milliseconds after the scene began. */
export function timeAt(ms: number): Timestamp {
  return new Date(Date.UTC(2026, 0, 1) + ms).toISOString() as Timestamp;
}

export const allCapabilities: PluginCapabilities = {
  supportsPause: true,
  supportsResume: true,
  supportsKill: true,
  supportsHotBriefUpdate: true,
};

export const classifications: readonly ToolRiskClassification[] = [
  {
    toolPattern: 'read',
    defaultSeverity: 'low',
    defaultBlastRadius: 'trivial',
    defaultConfidence: 0.95,
    requiresRationale: false,
  },
  {
    toolPattern: 'write',
    defaultSeverity: 'medium',
    defaultBlastRadius: 'small',
    defaultConfidence: 0.9,
    requiresRationale: false,
  },
  {
    toolPattern: 'deploy*',
    defaultSeverity: 'critical',
    defaultBlastRadius: 'large',
    defaultConfidence: 0.9,
    requiresRationale: true,
  },
];

export const template: Partial<AgentBrief> = {
  role: 'Coder',
  description: 'Writes code.',
  workstream: 'backend',
  readableWorkstreams: [],
  constraints: [],
  allowedTools: ['read', 'write'],
};

type Given<Kind extends Fact['kind']> = Omit<Extract<Fact, { kind: Kind }>, 'kind' | 'at'>;

/** A fleet that facts happen to, with every fact and every effect so far. Time stands still unless it is moved. */
export interface Scene {
  state: FleetState;
  readonly facts: Fact[];
  readonly effects: Effect[];
  now: number;
  /** Lets a fact happen; returns its effects. */
  happens<Kind extends Fact['kind']>(kind: Kind, given: Given<Kind>): readonly Effect[];
  /** Lets an agent send an event, with the next sequence of its session. */
  emits(agent: string, event: DistributiveOmit<AgentEvent, 'agentId'>, change?: EnvelopeChange): readonly Effect[];
  ticks(by: number): readonly Effect[];
  passes(ms: number): readonly Effect[];
}

interface EnvelopeChange {
  readonly sequence?: number;
  readonly id?: string;
  readonly session?: AdapterSessionId;
  readonly raw?: { readonly [field: string]: Json };
}

type DistributiveOmit<Whole, Key extends PropertyKey> = Whole extends unknown ? Omit<Whole, Key> : never;

/** A scene in manual ticks, with one plugin and the agents that are named: `maya`, or `maya/frontend` for another workstream. */
export function scene(
  agents: readonly string[] = ['maya'],
  { capabilities = allCapabilities, config = {}, mode = 'adaptive' }: SceneOptions = {},
): Scene {
  const sequences = new Map<string, number>();
  const current: Scene = {
    state: emptyFleet,
    facts: [],
    effects: [],
    now: 0,
    happens: (kind, given) => {
      const fact = { kind, at: timeAt(current.now), ...given } as unknown as Fact;
      const step = stepFleet(current.state, fact);
      current.state = step.state;
      current.facts.push(fact);
      current.effects.push(...step.effects);
      return step.effects;
    },
    emits: (agent, event, change = {}) => {
      const id = agentNamed(agent);
      const session = change.session ?? current.state.agents.agents[id]?.session ?? sessionNamed(`${agent}-1`);
      const sequence = change.sequence ?? sequences.get(session) ?? 0;
      if (change.sequence === undefined) sequences.set(session, sequence + 1);
      return current.happens('event_received', {
        agentId: id,
        payload: {
          sourceEventId: change.id ?? deriveId<EventId>('test-event', session, sequence),
          sourceSequence: sequence,
          sourceOccurredAt: timeAt(current.now),
          runId: session,
          event: { agentId: id, ...(event as object) },
          ...change.raw,
        } as Json,
      });
    },
    ticks: by => current.happens('ticks_advanced', { by }),
    passes: ms => {
      current.now += ms;
      return current.happens('time_passed', {});
    },
  };
  current.happens('configured', {
    config: { ...defaultFleetConfig, ticks: { intervalMs: 1000, mode: 'manual' }, ...config },
  });
  current.happens('mode_changed', { mode, by: 'ada' });
  current.happens('plugin_registered', {
    pluginName: 'mock',
    version: '1',
    capabilities,
    toolClassifications: classifications,
  });
  for (const agent of agents) {
    const [name = agent, workstream = 'backend'] = agent.split('/');
    starts(current, name, { workstream });
  }
  return current;
}

export interface SceneOptions {
  readonly capabilities?: PluginCapabilities;
  readonly config?: Partial<FleetConfig>;
  readonly mode?: FleetState['control']['mode'];
}

/** An agent is asked for and runs. */
export function starts(current: Scene, agent: string, changes: Partial<AgentBrief> = {}, life = 1): void {
  const agentId = agentNamed(agent);
  current.happens('agent_requested', { agentId, name: agent, pluginName: 'mock', template, changes, by: 'ada' });
  current.happens('agent_started', {
    agentId,
    session: sessionNamed(`${agent}-${life}`),
    sessionId: `${agent}-${life}`,
  });
}

export const toolApproval = (name: string, toolName = 'write', more: object = {}) =>
  ({
    type: 'decision',
    subtype: 'tool_approval',
    decisionId: decisionNamed(name),
    toolName,
    toolArgs: {},
    ...more,
  }) as const;

export const optionDecision = (name: string, more: object = {}) =>
  ({
    type: 'decision',
    subtype: 'option',
    decisionId: decisionNamed(name),
    title: `About ${name}`,
    summary: '',
    severity: 'medium',
    confidence: 0.9,
    blastRadius: 'small',
    options: [
      { id: 'a', label: 'First', description: '' },
      { id: 'b', label: 'Second', description: '' },
    ],
    recommendedOptionId: 'a',
    affectedArtifactIds: [],
    requiresRationale: false,
    ...more,
  }) as const;

export const artifact = (name: string, more: object = {}, by = 'maya') =>
  ({
    type: 'artifact',
    artifactId: artifactNamed(name),
    name,
    kind: 'code',
    workstream: 'backend',
    status: 'draft',
    qualityScore: 0.5,
    provenance: { createdBy: agentNamed(by), createdAt: timeAt(0) },
    mimeType: 'text/typescript',
    ...more,
  }) as const;

export const approve: Resolution = { resolutionType: 'approve', rationale: '', actionKind: 'update' };
export const reject: Resolution = { resolutionType: 'reject', rationale: 'no', actionKind: 'update' };
export const choose = (chosenOptionId: string): Resolution => ({
  resolutionType: 'choose_option',
  chosenOptionId,
  rationale: '',
  actionKind: 'update',
});

/** Effects of one kind. */
export function only<Kind extends Effect['kind']>(
  effects: readonly Effect[],
  kind: Kind,
): readonly Extract<Effect, { kind: Kind }>[] {
  return effects.filter((effect): effect is Extract<Effect, { kind: Kind }> => effect.kind === kind);
}

/** What the audit says of decisions: action and who. */
export function audited(effects: readonly Effect[]): readonly string[] {
  return only(effects, 'audit').map(({ entry }) => `${entry.action} by ${entry.by}`);
}
