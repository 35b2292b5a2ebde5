import {
  type AgentEventType,
  type ArtifactStatus,
  adapterEvent,
  agentEvent,
  agentEventType,
  artifactStatus,
  type CoherenceCategory,
  coherenceCategory,
  decisionEvent,
  eventEnvelope,
  eventPriority,
  projectPath,
  replayRequest,
} from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import {
  adapterEventSample,
  agentEventSamples,
  decisionSamples,
  envelopeSample,
  optionDecisionSample,
  provenanceSample,
  replaySample,
  toolApprovalSample,
} from '../../test/fleet-event-samples.ts';
import { refusal, requiredFields } from '../../test/refusal.ts';

/** The fields that an event of each type may leave out. */
const optional: Readonly<Record<AgentEventType, readonly string[]>> = {
  status: ['tick'],
  decision: ['recommendedOptionId', 'dueByTick'],
  artifact: ['uri', 'mimeType', 'sizeBytes', 'contentHash'],
  coherence: [],
  tool_call: ['output', 'durationMs'],
  completion: ['reason'],
  error: ['errorCode', 'context'],
  delegation: [],
  guardrail: [],
  lifecycle: ['reason'],
  progress: [],
  raw_provider: [],
  'message.assistant.delta': [],
  'message.assistant.final': [],
  usage: ['provider', 'model', 'inputTokens', 'outputTokens', 'cachedTokens', 'toolCalls', 'costMicroUsd', 'wallMs'],
};

describe('an event of an agent', () => {
  it('[M203] has one of the twelve types of the specification, or says something, or reports usage', () => {
    expect(agentEventType.options).toEqual(Object.keys(agentEventSamples));
    expect(agentEventType.options).toHaveLength(15);
    expect(refusal(agentEvent, { ...agentEventSamples.status, type: 'thought' })).toEqual(['type: invalid_union']);
  });

  it.each(agentEventType.options)('[M203] %s: requires every field that the specification does', type => {
    const sample = agentEventSamples[type];
    expect(requiredFields(agentEvent, sample)).toEqual(
      Object.keys(sample).filter(field => !optional[type].includes(field)),
    );
  });

  it('[M203] has closed sets', () => {
    const statuses: readonly ArtifactStatus[] = ['draft', 'in_review', 'approved', 'rejected'];
    const categories: readonly CoherenceCategory[] = ['contradiction', 'duplication', 'gap', 'dependency_violation'];
    expect([artifactStatus.options, coherenceCategory.options]).toEqual([statuses, categories]);
  });

  it('[M204] that is a decision is a choice or a tool approval, and only the second may leave its risk open', () => {
    expect(decisionSamples.map(sample => decisionEvent.parse(sample).subtype)).toEqual(['option', 'tool_approval']);
    expect(requiredFields(agentEvent, toolApprovalSample)).toEqual([
      'type',
      'subtype',
      'agentId',
      'decisionId',
      'toolName',
      'toolArgs',
    ]);
    expect(refusal(agentEvent, { ...optionDecisionSample, options: [] })).toEqual(['options: too_small']);
    expect(refusal(agentEvent, { ...optionDecisionSample, dueByTick: null })).toEqual([]);
  });

  it.each([
    ['a confidence over 1', optionDecisionSample, { confidence: 1.1 }, 'confidence: too_big'],
    [
      'a severity that is no word of the scale',
      optionDecisionSample,
      { severity: 'urgent' },
      'severity: invalid_value',
    ],
    ['an agent that is no UUID', agentEventSamples.status, { agentId: 'agent-1' }, 'agentId: invalid_format'],
    ['a quality over 1', agentEventSamples.artifact, { qualityScore: 80 }, 'qualityScore: too_big'],
    ['progress over 100', agentEventSamples.progress, { progressPct: 101 }, 'progressPct: too_big'],
    ['tokens below zero', agentEventSamples.usage, { inputTokens: -1 }, 'inputTokens: too_small'],
    ['arguments that are a list', toolApprovalSample, { toolArgs: [] }, 'toolArgs: custom'],
    ['a depth below zero', agentEventSamples.delegation, { delegationDepth: -1 }, 'delegationDepth: too_small'],
  ])('[M203] refuses %s', (_, sample, change, problem) => {
    expect(refusal(agentEvent, { ...sample, ...change })).toEqual([problem]);
  });

  it('[M205] has a priority: what tells progress may be dropped, everything else is kept', () => {
    const droppable = agentEventType.options.filter(type => eventPriority[type] === 'droppable');
    expect(droppable).toEqual(['status', 'tool_call', 'progress', 'raw_provider', 'message.assistant.delta']);
  });
});

describe('an adapter event', () => {
  it('[M206] has an identity of its own, and an envelope adds when it was received', () => {
    expect(requiredFields(adapterEvent, adapterEventSample)).toEqual(Object.keys(adapterEventSample));
    expect(requiredFields(eventEnvelope, envelopeSample)).toEqual([...Object.keys(adapterEventSample), 'ingestedAt']);
    expect(refusal(adapterEvent, envelopeSample)).toEqual([': unrecognized_keys']);
  });

  it.each([
    ['a sequence below zero', { sourceSequence: -1 }, 'sourceSequence: too_small'],
    ['half a sequence', { sourceSequence: 1.5 }, 'sourceSequence: invalid_type'],
    ['a time with an offset', { sourceOccurredAt: '2026-01-01T00:00:00+02:00' }, 'sourceOccurredAt: invalid_format'],
    [
      'an id in capitals',
      { sourceEventId: adapterEventSample.sourceEventId.toUpperCase() },
      'sourceEventId: invalid_format',
    ],
    ['a session without a UUID', { runId: 'run-1' }, 'runId: invalid_format'],
  ])('[M206] refuses %s', (_, change, problem) => {
    expect(refusal(adapterEvent, { ...adapterEventSample, ...change })).toEqual([problem]);
  });

  it('[M206] is asked for again by a range that does not end before it begins', () => {
    expect(refusal(replayRequest, { ...replaySample, toSequence: 1 })).toEqual([': custom']);
    expect(refusal(replayRequest, { ...replaySample, toSequence: 2 })).toEqual([]);
  });
});

describe('the provenance of an artifact', () => {
  it.each(['src/api.ts', './src/api.ts', 'a..b/c'])('[M207] has the path %s below the project', value => {
    expect(refusal(projectPath, value)).toEqual([]);
  });

  it.each(['', '/etc/passwd', '..', 'src/../../x', 'C:\\x', '\\\\server\\x', 'a\\..\\b', 'a\0b'])(
    '[M207] refuses the path %j',
    value => {
      expect(refusal(projectPath, value)).not.toEqual([]);
    },
  );

  it('[M207] names at least its author and when', () => {
    const event = { ...agentEventSamples.artifact, provenance: { createdBy: provenanceSample.createdBy } };
    expect(refusal(agentEvent, event)).toEqual(['provenance.createdAt: invalid_type']);
  });
});
