import {
  canonicalJson,
  digestHex,
  eventId,
  nodeId,
  portableHasher,
  runId,
  sessionId,
  unreachable,
} from '@signalbox/model';
import * as z from 'zod';
import {
  advanceRecordedData,
  capabilityObservedData,
  contextSetData,
  decisionTraceAppendedData,
  divergenceRecordedData,
  edgeCreatedData,
  gapRecordedData,
  nodeCreatedData,
  nodeOutputAppendedData,
  observationRecordedData,
  preferencesChangedData,
  runStartedData,
} from './event-data.ts';

/**
 * Everything that a guided session records: a closed set, version 1.
 *
 * V1  The dedupe key of an event is derived from its ids by the recipe of its kind; no other key is valid.
 * V2  An unknown field, kind or version is refused, never guessed.
 *
 * The envelope is the journal's, spelled out here because projections and the interpreter compile without the platform.
 */
const dedupeKey = z
  .string()
  .max(256)
  .regex(/^[a-z0-9_:>-]+$/, 'must be of a-z 0-9 _ : > -')
  .brand<'DedupeKey'>();
export type DedupeKey = z.infer<typeof dedupeKey>;

const envelope = { v: z.literal(1), eventId, eventIndex: z.int().nonnegative(), sessionId, dedupeKey };
const inRun = z.strictObject({ runId });
const atNode = z.strictObject({ runId, nodeId });

export const domainEventV1 = z
  .discriminatedUnion('kind', [
    z.strictObject({ ...envelope, kind: z.literal('session_created'), data: z.strictObject({}) }),
    z.strictObject({ ...envelope, kind: z.literal('run_started'), scope: inRun, data: runStartedData }),
    z.strictObject({ ...envelope, kind: z.literal('node_created'), scope: atNode, data: nodeCreatedData }),
    z.strictObject({ ...envelope, kind: z.literal('edge_created'), scope: inRun, data: edgeCreatedData }),
    z.strictObject({ ...envelope, kind: z.literal('advance_recorded'), scope: atNode, data: advanceRecordedData }),
    z.strictObject({
      ...envelope,
      kind: z.literal('node_output_appended'),
      scope: atNode,
      data: nodeOutputAppendedData,
    }),
    z.strictObject({
      ...envelope,
      kind: z.literal('preferences_changed'),
      scope: atNode,
      data: preferencesChangedData,
    }),
    z.strictObject({
      ...envelope,
      kind: z.literal('capability_observed'),
      scope: atNode,
      data: capabilityObservedData,
    }),
    z.strictObject({
      ...envelope,
      kind: z.literal('observation_recorded'),
      scope: atNode.optional(),
      data: observationRecordedData,
    }),
    z.strictObject({ ...envelope, kind: z.literal('gap_recorded'), scope: atNode, data: gapRecordedData }),
    z.strictObject({
      ...envelope,
      kind: z.literal('divergence_recorded'),
      scope: atNode,
      data: divergenceRecordedData,
    }),
    z.strictObject({
      ...envelope,
      kind: z.literal('decision_trace_appended'),
      scope: atNode,
      data: decisionTraceAppendedData,
    }),
    z.strictObject({ ...envelope, kind: z.literal('context_set'), scope: inRun, data: contextSetData }),
  ])
  .superRefine((event, context) => {
    const expected = dedupeKeyOf(event);
    if (event.dedupeKey === expected) return;
    context.addIssue({ code: 'custom', path: ['dedupeKey'], message: `must be ${expected}` });
  });

export type DomainEvent = z.infer<typeof domainEventV1>;
export type DomainEventKind = DomainEvent['kind'];
export type EventOf<K extends DomainEventKind> = Extract<DomainEvent, { readonly kind: K }>;

/** A plan's description of an event; its key, its id and the journal's fields follow from it. */
export type EventFacts = DomainEvent extends infer E
  ? E extends DomainEvent
    ? Omit<E, 'v' | 'eventId' | 'eventIndex' | 'dedupeKey'>
    : never
  : never;

/** The key that makes a retry of this event a no-op. */
export function dedupeKeyOf(event: EventFacts): DedupeKey {
  const { kind, sessionId: session } = event;
  const key = (...parts: readonly string[]) => [kind, session, ...parts].join(':') as DedupeKey;
  switch (event.kind) {
    case 'session_created':
      return key();
    case 'run_started':
      return key(event.scope.runId);
    case 'node_created':
      return key(event.scope.runId, event.scope.nodeId);
    case 'edge_created': {
      const { fromNodeId, toNodeId, edgeKind } = event.data;
      return key(event.scope.runId, `${fromNodeId}->${toNodeId}`, edgeKind);
    }
    case 'advance_recorded':
      return key(event.scope.nodeId, event.data.attemptId);
    case 'node_output_appended':
      return key(event.data.outputId);
    case 'preferences_changed':
      return key(event.data.changeId);
    case 'capability_observed':
      return key(event.data.capObsId);
    case 'observation_recorded':
      return key(event.data.key, digestHex(portableHasher(canonicalJson(event.data.value))));
    case 'gap_recorded':
      return key(event.data.gapId);
    case 'divergence_recorded':
      return key(event.data.divergenceId);
    case 'decision_trace_appended':
      return key(event.data.traceId);
    case 'context_set':
      return key(event.data.contextId);
    default:
      return unreachable(event);
  }
}
