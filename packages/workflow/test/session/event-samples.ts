import {
  canonicalJson,
  type Digest,
  digestHex,
  type EventId,
  type NodeId,
  portableHasher,
  type RunId,
} from '@signalbox/model';
import type { DomainEventKind, EventFacts } from '../../src/session/domain-event.ts';
import { guidedId } from '../../src/session/ids.ts';
import { SESSION } from './guided-session.ts';

const id = (name: string) => guidedId('sample', name) as never;

export const RUN = guidedId<RunId>('sample', 'run');
export const NODE = guidedId<NodeId>('sample', 'node');
const CHILD = guidedId<NodeId>('sample', 'child');
const EVENT = guidedId<EventId>('sample', 'event');
const HASH = `sha256:${'ab'.repeat(32)}` as Digest;
const HEAD = { type: 'git_sha1', value: '4f3c2a1b0d9e8f7a6b5c4d3e2f1a0b9c8d7e6f5a' } as const;

/** One event of every kind, and the key that its recipe gives it. */
export const samples: {
  readonly [K in DomainEventKind]: readonly [facts: Extract<EventFacts, { kind: K }>, key: string];
} = {
  session_created: [{ sessionId: SESSION, kind: 'session_created', data: {} }, `session_created:${SESSION}`],
  run_started: [
    {
      sessionId: SESSION,
      kind: 'run_started',
      scope: { runId: RUN },
      data: {
        workflowId: 'project.bug_hunt',
        workflowHash: HASH,
        workflowSourceKind: 'project',
        workflowSourceRef: 'workflows/bug_hunt.json',
      },
    },
    `run_started:${SESSION}:${RUN}`,
  ],
  node_created: [
    {
      sessionId: SESSION,
      kind: 'node_created',
      scope: { runId: RUN, nodeId: NODE },
      data: { nodeKind: 'step', parentNodeId: null, workflowHash: HASH, snapshotRef: HASH },
    },
    `node_created:${SESSION}:${RUN}:${NODE}`,
  ],
  edge_created: [
    {
      sessionId: SESSION,
      kind: 'edge_created',
      scope: { runId: RUN },
      data: {
        edgeKind: 'acked_step',
        fromNodeId: NODE,
        toNodeId: CHILD,
        cause: { kind: 'intentional_fork', eventId: EVENT },
      },
    },
    `edge_created:${SESSION}:${RUN}:${NODE}->${CHILD}:acked_step`,
  ],
  advance_recorded: [
    {
      sessionId: SESSION,
      kind: 'advance_recorded',
      scope: { runId: RUN, nodeId: NODE },
      data: { attemptId: id('attempt'), intent: 'ack_pending', outcome: { kind: 'advanced', toNodeId: CHILD } },
    },
    `advance_recorded:${SESSION}:${NODE}:${id('attempt')}`,
  ],
  node_output_appended: [
    {
      sessionId: SESSION,
      kind: 'node_output_appended',
      scope: { runId: RUN, nodeId: NODE },
      data: {
        outputId: id('output'),
        outputChannel: 'recap',
        payload: { payloadKind: 'notes', notesMarkdown: 'Found it.' },
      },
    },
    `node_output_appended:${SESSION}:${id('output')}`,
  ],
  preferences_changed: [
    {
      sessionId: SESSION,
      kind: 'preferences_changed',
      scope: { runId: RUN, nodeId: NODE },
      data: {
        changeId: id('change'),
        source: 'user',
        delta: [{ key: 'autonomy', value: 'full_auto_never_stop' }],
        effective: { autonomy: 'full_auto_never_stop', riskPolicy: 'conservative' },
      },
    },
    `preferences_changed:${SESSION}:${id('change')}`,
  ],
  capability_observed: [
    {
      sessionId: SESSION,
      kind: 'capability_observed',
      scope: { runId: RUN, nodeId: NODE },
      data: {
        capObsId: id('capability'),
        capability: 'web_browsing',
        status: 'available',
        provenance: {
          kind: 'probe_step',
          enforcementGrade: 'strong',
          detail: { probeTemplateId: 'wr.templates.capability_probe', probeStepId: 'probe_web', result: 'success' },
        },
      },
    },
    `capability_observed:${SESSION}:${id('capability')}`,
  ],
  observation_recorded: [
    {
      sessionId: SESSION,
      kind: 'observation_recorded',
      data: { key: 'git_head_sha', value: HEAD, confidence: 'high' },
    },
    `observation_recorded:${SESSION}:git_head_sha:${digestHex(portableHasher(canonicalJson(HEAD)))}`,
  ],
  gap_recorded: [
    {
      sessionId: SESSION,
      kind: 'gap_recorded',
      scope: { runId: RUN, nodeId: NODE },
      data: {
        gapId: id('gap'),
        severity: 'critical',
        reason: { category: 'contract_violation', detail: 'missing_required_output' },
        summary: 'A required output was missing.',
        resolution: { kind: 'unresolved' },
        evidenceRefs: [{ kind: 'event', eventId: EVENT }],
      },
    },
    `gap_recorded:${SESSION}:${id('gap')}`,
  ],
  divergence_recorded: [
    {
      sessionId: SESSION,
      kind: 'divergence_recorded',
      scope: { runId: RUN, nodeId: NODE },
      data: {
        divergenceId: id('divergence'),
        reason: 'capability_unavailable',
        summary: 'No delegation: done in sequence.',
        relatedStepId: 'investigate',
      },
    },
    `divergence_recorded:${SESSION}:${id('divergence')}`,
  ],
  decision_trace_appended: [
    {
      sessionId: SESSION,
      kind: 'decision_trace_appended',
      scope: { runId: RUN, nodeId: NODE },
      data: {
        traceId: id('trace'),
        entries: [
          {
            kind: 'entered_loop',
            summary: 'Entered the loop.',
            refs: [
              { kind: 'loop_id', loopId: 'outer' },
              { kind: 'iteration', value: 0 },
            ],
          },
        ],
      },
    },
    `decision_trace_appended:${SESSION}:${id('trace')}`,
  ],
  context_set: [
    {
      sessionId: SESSION,
      kind: 'context_set',
      scope: { runId: RUN },
      data: { contextId: id('context'), context: { ticket: 'ABC-1' }, source: 'initial' },
    },
    `context_set:${SESSION}:${id('context')}`,
  ],
};
