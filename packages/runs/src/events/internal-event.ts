import {
  approvalId,
  digest,
  eventId,
  json,
  type InternalEventType as KnownType,
  nodeStatus,
  runId,
  runStatus,
  storageReason,
  text,
  timestamp,
} from '@signalbox/model';
import * as z from 'zod';
import { decisionKind, resolution } from '../decisions/decision.ts';
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
/** Of the plan; absent where it is the first. */
const laterVersion = z.int().min(2);
const taskFields = { task: taskId, node: nodeKey, iteration: z.int().nonnegative(), attempt: z.int().positive() };
const handlerFields = { node: nodeKey, handler: text.min(1), frame: frameIndex, task: taskId.optional() };
const callFields = { call: text.min(1), tool: text, node: nodeKey, task: taskId };
const effectFields = { node: nodeKey, effect: text.min(1), frame: frameIndex };

/**
 * What happens inside a run beyond the contract's events. Closed and versioned: a change of a shape is a new version.
 * Events say what changed and where to find it; values live once, in the rows they are about.
 */
export const internalEvent = z.discriminatedUnion('type', [
  of('run.created', {
    driver: z.enum(['plan', 'workflow', 'graph']),
    name: text,
    origin: runOrigin.optional(),
    /** Who started it; absent where nobody did, and in logs of before this was said. */
    by: text.optional(),
  }),
  of('run.claimed', { epoch: z.int().nonnegative(), owner: ownerId }),
  /** The disk took no writes since then; what the run had to commit waited, and nothing of it was lost. */
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
    /** Its node was gone or restarted: the end is kept, its handlers do not run. */
    stale: z.boolean(),
  }),
  of('task.retry', { ...taskFields, error: taskError, retryAt: timestamp }),
  of('task.orphaned', { ...taskFields, action: z.enum(['retry', 'abandon', 'ask']) }),
  of('handler.ran', handlerFields),
  of('handler.failed', { ...handlerFields, error: text }),
  of('effect.ran', effectFields),
  of('effect.cleaned', effectFields),
  of('effect.failed', { ...effectFields, error: text }),
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
  /** How a fork came about: who asked, from which call or node, with which other input, and past which effects outside. */
  of('run.forked', {
    by: text,
    call: text.min(1).optional(),
    node: nodeKey.optional(),
    input: z.strictObject({ before: json, after: json }).optional(),
    effects: z.array(text).readonly(),
  }),
  /** Somebody changed durable state from outside; the key's transition in this frame has both values. */
  of('state.edited', { key: text, frame: frameIndex, by: text, reason: text.min(1) }),
  /** A node is retried by other rules than its own. */
  of('node.policy', { node: nodeKey, policy: retryPolicy, by: text }),
  /** The model of an agent answered: chunk `index` of the stream of the task is what it said. */
  of('message.said', { task: taskId, node: nodeKey, index: z.int().nonnegative() }),
  /** A tool call is about to be made; chunk `index` of the stream of the task has its input. */
  of('call.proposed', { ...callFields, index: z.int().nonnegative() }),
  /** A tool call begins, and how it ended. One that was canceled may begin again. Chunk `index` has its outcome in full. */
  of('call.began', callFields),
  of('call.ended', {
    ...callFields,
    outcome: z.enum(['succeeded', 'failed', 'unknown', 'refused', 'denied', 'canceled']),
    index: z.int().nonnegative().optional(),
  }),
  /** What a tool call had changed was brought back; with `kept`, what its rollback had overwritten was. */
  of('call.undone', { ...callFields, paths: z.array(text).readonly(), by: text, kept: z.boolean().optional() }),
  /** Files went back to before a tool call, or with `after` to after it, and the run goes on from there as the fork. */
  of('run.rolled_back', { ...callFields, after: z.boolean().optional(), fork: runId, by: text }),
  /** Whether the run stays, however old it gets. */
  of('run.kept', { kept: z.boolean(), by: text }),
  /** Stands in the place of an event that was taken away with its frame. */
  of('event.gone', {}),
  /** A secret that was found later was taken out of these records. */
  of('run.redacted', { records: z.array(frameIndex).readonly(), name: text, by: text, why: text }),
  /** These frames were collected: their trees, statuses, state and events are gone. */
  of('run.collapsed', { frames: z.array(frameRange).readonly(), by: text }),
  /** Everything before came from a bundle: of which run, with which head, and who brought it here. */
  of('run.imported', { run: runId, head: digest, bundle: digest, by: text }),
  of('usage.recorded', { call: text, node: nodeKey.optional(), task: taskId.optional() }),
]);
export type InternalEvent = z.infer<typeof internalEvent>;
export type InternalEventType = InternalEvent['type'];
