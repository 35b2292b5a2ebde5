import {
  approvalId,
  digest,
  eventId,
  json,
  jsonObject,
  type InternalEventType as KnownType,
  nodeStatus,
  resolution,
  runId,
  runStatus,
  storageReason,
  text,
  thrownPlace,
  timestamp,
} from '@signalbox/model';
import * as z from 'zod';
import { decisionKind } from '../decisions/decision.ts';
import { frameTrigger } from '../frames/frame.ts';
import { nodeKey, ownerId, taskId } from '../ids.ts';
import { frameRange } from '../retention/frame-range.ts';
import { runOrigin } from '../run/run-record.ts';
import { retryPolicy } from '../tasks/retry-policy.ts';
import { taskError } from '../tasks/task-error.ts';

export const INTERNAL_EVENT_VERSION = 1;

const envelope = {
  v: z.literal(INTERNAL_EVENT_VERSION),
  id: eventId,
  runId,
  seq: z.int().nonnegative(),
  ts: timestamp,
};

const of = <Type extends KnownType, Fields extends z.core.$ZodLooseShape>(type: Type, fields: Fields) =>
  z.strictObject({ ...envelope, type: z.literal(type), ...fields });

const frameIndex = z.int().nonnegative();
/** Of the plan; absent for the first version. */
const laterVersion = z.int().min(2);
const taskFields = { task: taskId, node: nodeKey, iteration: z.int().nonnegative(), attempt: z.int().positive() };
const handlerFields = { node: nodeKey, handler: text.min(1), frame: frameIndex, task: taskId.optional() };
const callFields = { call: text.min(1), tool: text, node: nodeKey, task: taskId };
/** As its agent names it. */
const subagentOfCall = z.strictObject({
  id: text.min(1).max(128),
  parent: text.min(1).max(128).optional(),
  kind: text.min(1).max(128).optional(),
});
export type SubagentOfCall = z.infer<typeof subagentOfCall>;
/** A call of a model through the meter. */
const modelFields = {
  ...{ call: text.min(1), node: nodeKey, task: taskId, provider: text.min(1), model: text.min(1) },
  /** Whose call it is, if its agent tells the calls of its subagents apart; `null` is its own. */
  subagent: subagentOfCall.nullable().optional(),
};
const effectFields = { node: nodeKey, effect: text.min(1), frame: frameIndex };

/**
 * Events inside a run beyond the contract's. Closed and versioned: changing a shape needs a new version. Events say what changed and where
 * to find it; values are stored once, in their rows.
 */
export const internalEvent = z.discriminatedUnion('type', [
  of('run.created', {
    driver: z.enum(['plan', 'workflow', 'graph']),
    name: text,
    origin: runOrigin.optional(),
    /** Who started it; absent if nobody did, and in logs from before this field existed. */
    by: text.optional(),
  }),
  of('run.claimed', { epoch: z.int().nonnegative(), owner: ownerId }),
  /** The disk has accepted no writes since then; the run's commits waited, and none was lost. */
  of('run.held', { reason: storageReason, since: timestamp }),
  of('run.resumed', {
    frame: frameIndex.optional(),
    changed: z.array(text).readonly(),
    planVersion: laterVersion.optional(),
  }),
  of('run.status', {
    from: runStatus,
    to: runStatus,
    stopReason: text.min(1).optional(),
    error: taskError.optional(),
  }),
  of('frame.committed', {
    frame: frameIndex,
    trigger: frameTrigger,
    mounted: z.int().nonnegative(),
    unmounted: z.int().nonnegative(),
    digest,
    planVersion: laterVersion.optional(),
  }),
  of('node.status', {
    node: nodeKey,
    frame: frameIndex,
    from: nodeStatus,
    to: nodeStatus,
    blockReason: text.min(1).optional(),
  }),
  of('state.changed', {
    frame: frameIndex,
    index: z.int().nonnegative(),
    key: text,
    trigger: text.optional(),
    node: nodeKey.optional(),
    handler: text.optional(),
  }),
  of('task.started', taskFields),
  of('task.progressed', { ...taskFields, detail: json }),
  of('task.ended', {
    ...taskFields,
    outcome: z.enum(['done', 'error', 'canceled']),
    error: taskError.optional(),
    /** Its node was gone or restarted: the end is recorded, but its handlers do not run. */
    stale: z.boolean(),
  }),
  of('task.retry', { ...taskFields, error: taskError, retryAt: timestamp }),
  of('task.orphaned', { ...taskFields, action: z.enum(['retry', 'abandon', 'ask']) }),
  of('handler.ran', handlerFields),
  of('handler.failed', { ...handlerFields, error: text, thrown: thrownPlace.optional() }),
  of('effect.ran', effectFields),
  of('effect.cleaned', effectFields),
  of('effect.failed', { ...effectFields, error: text, thrown: thrownPlace.optional() }),
  /** A plan's code wrote a file under its root. */
  of('file.written', {
    path: text.min(1),
    digest,
    bytes: z.int().nonnegative(),
    frame: frameIndex,
    node: nodeKey.optional(),
    handler: text.optional(),
  }),
  of('decision.asked', { decision: approvalId, node: nodeKey, kind: decisionKind, proposalHash: digest }),
  of('decision.proposed', { decision: approvalId, proposalHash: digest }),
  of('decision.answered', { decision: approvalId, resolution, by: text }),
  of('decision.withdrawn', { decision: approvalId }),
  of('decision.delivered', { decision: approvalId }),
  of('signal.received', { name: text.min(1), payload: json, by: text }),
  of('operator.acted', {
    action: z.enum(['pause', 'resume', 'stop', 'terminate', 'retry', 'cancel', 'reset', 'raise', 'trust']),
    node: nodeKey.optional(),
    by: text,
  }),
  /** How a fork was made: who asked, from which call or node, with which changed input, and past which outside effects. */
  of('run.forked', {
    by: text,
    call: text.min(1).optional(),
    node: nodeKey.optional(),
    input: z.strictObject({ before: json, after: json }).optional(),
    /** The changed input of `node`, and the content of the node that it became. */
    nodeInput: z
      .strictObject({ edit: z.strictObject({ kind: text, data: jsonObject }), before: json, after: json })
      .optional(),
    effects: z.array(text).readonly(),
  }),
  /** Durable state was changed from outside; the key's transition in this frame has both values. */
  of('state.edited', { key: text, frame: frameIndex, by: text, reason: text.min(1) }),
  /** A node's retry policy was overridden. */
  of('node.policy', { node: nodeKey, policy: retryPolicy, by: text }),
  /** An agent's model answered: chunk `index` of the task's stream has the message. */
  of('message.said', { task: taskId, node: nodeKey, index: z.int().nonnegative() }),
  /** A tool call is about to run; chunk `index` of the task's stream has its input. */
  of('call.proposed', { ...callFields, index: z.int().nonnegative() }),
  /** A tool call begins, and how it ended. A canceled one may begin again. Chunk `index` has its full outcome. */
  of('call.began', callFields),
  of('call.ended', {
    ...callFields,
    outcome: z.enum(['succeeded', 'failed', 'unknown', 'refused', 'denied', 'canceled']),
    index: z.int().nonnegative().optional(),
  }),
  /** A tool call's changes were undone; with `kept`, what its rollback had overwritten was restored. */
  of('call.undone', { ...callFields, paths: z.array(text).readonly(), by: text, kept: z.boolean().optional() }),
  /** Files were restored to before a tool call, or with `after` to after it, and the run continues from there as the fork. */
  of('run.rolled_back', { ...callFields, after: z.boolean().optional(), fork: runId, by: text }),
  /** Whether the run is exempt from retention. */
  of('run.kept', { kept: z.boolean(), by: text }),
  /** Replaces an event that was removed with its frame. */
  of('event.gone', {}),
  /** A secret found later was removed from these records. */
  of('run.redacted', { records: z.array(frameIndex).readonly(), name: text, by: text, why: text }),
  /** These frames were collected: their trees, statuses, state and events are gone. */
  of('run.collapsed', { frames: z.array(frameRange).readonly(), by: text }),
  /** Everything before came from a bundle: its run, its head, and who imported it. */
  of('run.imported', { run: runId, head: digest, bundle: digest, by: text }),
  of('usage.recorded', { call: text, node: nodeKey.optional(), task: taskId.optional() }),
  /** A call is about to go to its model, and may take this many tokens. */
  of('model.called', {
    ...modelFields,
    input: z.int().nonnegative(),
    output: z.int().nonnegative(),
    costMicroUsd: z.int().nonnegative().optional(),
  }),
  /** What became of it. Its spending was committed with it; what the provider did not tell is unknown, and was estimated. */
  of('model.answered', {
    ...modelFields,
    outcome: z.enum(['answered', 'refused', 'cut', 'lost']),
    status: z.int().optional(),
    unknown: z.array(z.enum(['input', 'output', 'cost'])).readonly(),
    /** Absent if it spent nothing. */
    spent: z
      .strictObject({
        inputTokens: z.int().nonnegative(),
        outputTokens: z.int().nonnegative(),
        cachedTokens: z.int().nonnegative(),
        costMicroUsd: z.int().nonnegative(),
      })
      .optional(),
    /** Blobs with what went to the model and came back, if they were kept. */
    request: digest.optional(),
    answer: digest.optional(),
  }),
  /** A call was refused at a limit: it never went out. */
  of('model.refused', { ...modelFields, reason: text }),
]);
export type InternalEvent = z.infer<typeof internalEvent>;
export type InternalEventType = InternalEvent['type'];
