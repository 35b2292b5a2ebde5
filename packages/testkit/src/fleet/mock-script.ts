import {
  agentBrief,
  agentEvent,
  agentId,
  approvalId,
  artifactId,
  coherenceCategory,
  controlMode,
  json,
  pluginError,
  resolution,
  severity,
  text,
} from '@signalbox/model';
import * as z from 'zod';

const milliseconds = z.int().nonnegative();
const times = z.int().positive();

/** What goes wrong when an entry is played. */
export const mockFailure = z.discriminatedUnion('type', [
  /** The next call of the plugin for this agent fails; at the first entry, that is its start. */
  z.strictObject({ type: z.literal('error'), error: pluginError }),
  /** The event is late. */
  z.strictObject({ type: z.literal('timeout'), durationMs: milliseconds }),
  /** This is sent instead of the event, alone or in the event's envelope. */
  z.strictObject({ type: z.literal('malformed_event'), raw: json, isWrapped: z.boolean().optional() }),
  /** The process dies. It comes back by itself after a while, as another adapter session, or never. */
  z.strictObject({ type: z.literal('crash'), restartAfterMs: milliseconds.nullable() }),
  /** The event is blocked, and the guardrail reports it. */
  z.strictObject({ type: z.literal('guardrail_trip'), guardrailName: text.min(1), message: text }),
  /** The event is sent again so many times. */
  z.strictObject({ type: z.literal('duplicate'), times }),
  /** The event is sent only after so many later ones. */
  z.strictObject({ type: z.literal('reorder'), after: times }),
  /** The event is lost on its way; whether the adapter still has it when it is asked for is given. */
  z.strictObject({ type: z.literal('gap'), isReplayable: z.boolean() }),
  /** The agent sends nothing more and answers no call but a kill. */
  z.strictObject({ type: z.literal('hang') }),
  /** The event is sent after the agent was killed or paused. */
  z.strictObject({ type: z.literal('late_after_kill') }),
]);
export type MockFailure = Readonly<z.infer<typeof mockFailure>>;

const mockEventEntry = z.strictObject({
  /** Scripted time since the entry before it. */
  delayMs: milliseconds,
  event: agentEvent,
  /** The agent waits here until the decision is resolved. */
  hitlBlock: z
    .strictObject({
      decisionId: approvalId,
      /** For tests without a person: the answer, and when it is given. */
      autoResolveAfterMs: milliseconds.optional(),
      autoResolution: resolution.optional(),
    })
    .optional(),
  /** Played only if the last decision of the agent ended so. */
  onlyAfter: z.enum(['approval', 'rejection']).optional(),
  failureInjection: mockFailure.optional(),
});
export type MockEventEntry = Readonly<z.infer<typeof mockEventEntry>>;

const mockAgentScript = z.strictObject({
  name: text.min(1),
  agentId,
  role: text.min(1),
  /** Of its brief; the rest is the same for all. */
  brief: agentBrief.pick({
    description: true,
    workstream: true,
    readableWorkstreams: true,
    constraints: true,
    allowedTools: true,
  }),
  events: z.array(mockEventEntry).readonly(),
});
export type MockAgentScript = Readonly<z.infer<typeof mockAgentScript>>;

/** The review of a pair of artifacts, as a model would give it. */
const mockReview = z.strictObject({
  candidateId: text.min(1),
  result: z.strictObject({
    candidateId: text.min(1),
    confirmed: z.boolean(),
    category: coherenceCategory.optional(),
    severity: severity.optional(),
    explanation: text,
    suggestedResolution: text.optional(),
    notifyAgentIds: z.array(agentId).readonly(),
  }),
});

const mockCoherenceScenario = z.strictObject({
  artifactSimilarities: z
    .array(
      z.strictObject({
        artifactIdA: artifactId,
        artifactIdB: artifactId,
        similarityScore: z.number().min(0).max(1),
      }),
    )
    .readonly(),
  layer2Results: z.array(mockReview).readonly(),
});
export type MockCoherenceScenario = Readonly<z.infer<typeof mockCoherenceScenario>>;

export const mockScenario = z.strictObject({
  scenarioId: text.min(1),
  title: text.min(1),
  controlMode,
  agents: z.array(mockAgentScript).min(1).readonly(),
  coherence: mockCoherenceScenario,
});
export type MockScenario = Readonly<z.infer<typeof mockScenario>>;
