import {
  type AgentBrief,
  type AgentId,
  type Clock,
  deriveId,
  isJsonObject,
  type Json,
  type JsonObject,
  json,
  parseStrictly,
  timestampOf,
} from '@signalbox/model';
import * as z from 'zod';
import { type MockScenario, mockFailure, mockScenario } from './mock-script.ts';
import david from './scenarios/david.json' with { type: 'json' };
import maya from './scenarios/maya.json' with { type: 'json' };
import priya from './scenarios/priya.json' with { type: 'json' };
import rosa from './scenarios/rosa.json' with { type: 'json' };
import sam from './scenarios/sam.json' with { type: 'json' };

/** The specification's five scenarios, as written. */
const scenarioFiles = { maya, david, priya, rosa, sam } as const;
export type ScenarioName = keyof typeof scenarioFiles;
export const scenarioNames = Object.keys(scenarioFiles) as readonly ScenarioName[];

/** A failure that a variant adds to the script: of which agent, and at which of its entries. */
const injection = z.strictObject({ agent: z.string(), entry: z.int().nonnegative(), failure: json });
const scenarioFile = z.looseObject({
  scenarioId: z.string(),
  agents: z.array(z.looseObject({ name: z.string(), events: z.array(z.looseObject({})) })),
  variants: z.record(z.string(), z.array(injection)),
});

export interface LoadOptions {
  /** Other ids for everything, so that one scenario can be played twice in a project. */
  readonly seed?: number;
  /** Which failures are added; none if there is no variant. */
  readonly variant?: string;
}

/** A scenario of the specification, ready to be played. */
export function loadScenario(name: ScenarioName, options: LoadOptions = {}): MockScenario {
  return readScenario(scenarioFiles[name], options);
}

/** The failure variants of a scenario. */
export function scenarioVariants(name: ScenarioName): readonly string[] {
  return Object.keys(scenarioFiles[name].variants);
}

/**
 * A scenario from the contents of a file. Ids are written there by name (`@agent:backend`, `@artifact:api`), and an event has neither an
 * `agentId` nor the provenance of an artifact: both follow from the agent that reports it.
 */
export function readScenario(contents: unknown, { seed = 0, variant }: LoadOptions = {}): MockScenario {
  const { variants, ...file } = scenarioFile.parse(contents);
  const injections = variant === undefined ? [] : variants[variant];
  if (injections === undefined) throw new RangeError(`Scenario ${file.scenarioId} has no variant "${variant}".`);
  const agents = file.agents.map(agent => ({
    ...agent,
    agentId: `@agent:${agent.name}`,
    events: agent.events.map((entry, at) => ({
      ...entry,
      event: ofAgent(entry.event, agent.name),
      ...failureAt(injections, agent.name, at),
    })),
  }));
  for (const { agent, entry } of injections) {
    if (file.agents.find(({ name }) => name === agent)?.events[entry] === undefined) {
      throw new RangeError(`Scenario ${file.scenarioId}: ${agent} has no entry ${entry}.`);
    }
  }
  // Read from JSON, and only plain data was added.
  const parsed = parseStrictly(mockScenario, withIds({ ...file, agents } as unknown as Json, [file.scenarioId, seed]));
  if (!parsed.ok) throw new TypeError(`Scenario ${file.scenarioId}: ${parsed.error[0]?.sentence}`);
  return parsed.value;
}

/** The brief that an agent of a scenario is started with. */
export function scenarioBrief({ title, controlMode, agents }: MockScenario, name: string, clock: Clock): AgentBrief {
  const script = agents.find(agent => agent.name === name);
  if (script === undefined) throw new RangeError(`There is no agent "${name}" in the scenario.`);
  return {
    escalationProtocol: { alwaysEscalate: [], escalateWhen: [], neverEscalate: [] },
    projectBrief: { title, description: title, goals: [], checkpoints: [] },
    knowledgeSnapshot: {
      version: 0,
      generatedAt: timestampOf(clock),
      workstreams: [],
      pendingDecisions: [],
      recentCoherenceIssues: [],
      artifactIndex: [],
      activeAgents: [],
      estimatedTokens: 0,
    },
    ...script.brief,
    controlMode,
    role: script.role,
    agentId: script.agentId,
  };
}

const START = '2026-01-01T00:00:00.000Z';

function ofAgent(event: unknown, name: string): unknown {
  const fields = z.looseObject({ type: z.string() }).parse(event);
  const agentId = `@agent:${name}`;
  if (fields.type !== 'artifact') return { ...fields, agentId };
  return { ...fields, agentId, provenance: { createdBy: agentId, createdAt: START, ...Object(fields.provenance) } };
}

function failureAt(injections: readonly z.infer<typeof injection>[], agent: string, at: number): object {
  const found = injections.find(({ agent: name, entry }) => name === agent && entry === at);
  return found === undefined ? {} : { failureInjection: mockFailure.parse(found.failure) };
}

/** Replaces every name of an id by the id: the same for the same name, scenario and seed. */
function withIds(value: Json, scope: readonly Json[]): Json {
  if (typeof value === 'string') return value.startsWith('@') ? namedIds(value, scope) : value;
  if (Array.isArray(value)) return value.map(item => withIds(item, scope));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value satisfies JsonObject);
  return Object.fromEntries(entries.map(([key, member]) => [key, withIds(member, scope)]));
}

/** One id, or a pair of them: `@artifact:a+@artifact:b` is the candidate of both. */
function namedIds(names: string, scope: readonly Json[]): string {
  return names
    .split('+')
    .map(name => deriveId<AgentId>('mock', ...scope, name))
    .join(':');
}
