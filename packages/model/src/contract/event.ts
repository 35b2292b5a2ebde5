import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { digest } from '../digest.ts';
import { approvalId, edgeId, eventId, messageId, nodeId, runId, toolId } from '../ids.ts';
import { text } from '../json.ts';
import { approvalResolution } from './approval.ts';
import { artifact } from './artifact.ts';
import { edge } from './edge.ts';
import { handoff } from './handoff.ts';
import { message } from './message.ts';
import { nodePatch } from './node.ts';
import { globalMode, runMode, runPatch, runPhase } from './run.ts';
import { toolCall, toolError, toolResult } from './tool.ts';

export const RUN_EVENT_VERSION = 1;

/** The fields of every event. `seq` counts the events of a run from 0 without gaps and defines their order; `ts` does not. */
const envelope = {
  v: z.literal(RUN_EVENT_VERSION),
  id: eventId,
  runId,
  seq: z.int().nonnegative(),
  ts: timestamp,
};

const ofRun = <Type extends string, Fields extends z.core.$ZodLooseShape>(type: Type, fields: Fields) =>
  z.strictObject({ ...envelope, type: z.literal(type), nodeId: nodeId.optional(), ...fields });

const ofNode = <Type extends string, Fields extends z.core.$ZodLooseShape>(type: Type, fields: Fields) =>
  z.strictObject({ ...envelope, type: z.literal(type), nodeId, ...fields });

/** Why a run counts as stalled: what stayed the same, and how many times in a row. */
export const stallEvidence = z.strictObject({
  kind: z.enum([
    'repeated_output_hash',
    'repeated_diff_hash',
    'repeated_verification_failure',
    'repeated_frame_signature',
  ]),
  repeats: z.int().min(2),
  digest: digest.optional(),
  summary: text.min(1),
});
export type StallEvidence = z.infer<typeof stallEvidence>;

const nodeProgress = ofNode('node.progress', { summary: text, fraction: z.number().min(0).max(1).optional() });
const assistantDelta = ofNode('message.assistant.delta', { messageId, delta: text });
const artifactCreated = ofRun('artifact.created', { artifact });

/** Every event of a run, by `type`. */
export const runEvent = z.discriminatedUnion('type', [
  ofRun('run.patch', { patch: runPatch }),
  ofRun('run.phase', { phase: runPhase }),
  ofRun('run.mode', { mode: runMode, globalMode: globalMode.optional() }),
  ofRun('run.stalled', { evidence: stallEvidence }),
  ofNode('node.patch', { patch: nodePatch }),
  nodeProgress,
  ofRun('edge.created', { edge }),
  ofRun('edge.deleted', { edgeId }),
  ofRun('handoff.sent', { edgeId: edgeId.optional(), handoff }),
  ofRun('message.user', { message }),
  assistantDelta,
  ofNode('message.assistant.final', { message }),
  ofNode('tool.proposed', { tool: toolCall }),
  ofNode('tool.started', { toolId }),
  ofNode('tool.completed', { toolId, result: toolResult, error: toolError.optional() }),
  ofNode('approval.requested', { approvalId, tool: toolCall, context: text.optional() }),
  ofRun('approval.resolved', { approvalId, resolution: approvalResolution }),
  artifactCreated,
]);
export type RunEvent = z.infer<typeof runEvent>;
export type RunEventType = RunEvent['type'];

/**
 * The position of an event that is not a fact: after the event with this `seq`, and before the next one. Later ones there have a
 * higher offset: for an agent's output, the index in the stream of its task.
 */
const betweenEvents = { after: z.int().nonnegative(), offset: z.int().nonnegative() };

/**
 * Events that are not facts of a run, so they have no `seq` and are in no history: an agent's output while it works, part by part, and
 * the artifacts derived from its turn when that ends.
 */
export const saidEvent = z.discriminatedUnion('type', [
  nodeProgress.omit({ seq: true }).extend(betweenEvents),
  assistantDelta.omit({ seq: true }).extend(betweenEvents),
  artifactCreated.omit({ seq: true }).extend(betweenEvents),
]);
export type SaidEvent = z.infer<typeof saidEvent>;
