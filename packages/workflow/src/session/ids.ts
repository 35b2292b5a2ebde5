import { deriveId, type EventId, type Json, type NodeId, type RunId, type SessionId, uuid } from '@signalbox/model';
import type * as z from 'zod';

export const attemptId = uuid.brand<'AttemptId'>();
export const outputId = uuid.brand<'OutputId'>();
export const gapId = uuid.brand<'GapId'>();
export const changeId = uuid.brand<'ChangeId'>();
export const capObsId = uuid.brand<'CapObsId'>();
export const divergenceId = uuid.brand<'DivergenceId'>();
export const traceId = uuid.brand<'TraceId'>();
export const contextId = uuid.brand<'ContextId'>();

export type AttemptId = z.infer<typeof attemptId>;
export type OutputId = z.infer<typeof outputId>;
export type GapId = z.infer<typeof gapId>;
export type ChangeId = z.infer<typeof changeId>;
export type CapObsId = z.infer<typeof capObsId>;
export type DivergenceId = z.infer<typeof divergenceId>;
export type TraceId = z.infer<typeof traceId>;
export type ContextId = z.infer<typeof contextId>;

export type GuidedId =
  | SessionId
  | RunId
  | NodeId
  | EventId
  | AttemptId
  | OutputId
  | GapId
  | ChangeId
  | CapObsId
  | DivergenceId
  | TraceId
  | ContextId;

/** An id of a session that a retry names again: the same kind and parts give the same id. */
export function guidedId<Id extends GuidedId>(kind: string, ...parts: readonly Json[]): Id {
  return deriveId<EventId>(`guided.${kind}`, ...parts) as string as Id;
}
