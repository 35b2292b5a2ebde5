import { nodeStatus, runPhase, runStatus, taskStatus } from '@signalbox/model';
import type { Guard, WriteSet } from './commit.ts';
import type { InternalEventType } from './events/internal-event.ts';
import { frameTrigger } from './frames/frame.ts';
import { intervalSpace } from './frames/interval.ts';
import { areKnownSteps } from './frames/quick-steps.ts';
import {
  byMember,
  hasLength,
  type Is,
  is,
  isBoolean,
  isCount,
  isDigest,
  isJson,
  isName,
  isOwner,
  isPositive,
  isText,
  isTime,
  isUuid,
  listOf,
  oneOf,
  record,
} from './quick-checks.ts';
import { isNewRun } from './run/quick-run.ts';
import { newRun } from './run/run-record.ts';
import { task } from './tasks/task.ts';

/**
 * Whether a commit is certainly valid and unchanged by its schemas. False means unknown: the schemas decide. Covers only the shapes that
 * plan steps write over and over, and those with which a plain run begins and ends; a test compares it with the schemas.
 */
export function isKnownGood(writes: WriteSet, guard: Guard): boolean {
  return isGuard(guard) && isWriteSet(writes);
}

const isLaterVersion: Is = value => isPositive(value) && value !== 1;
const isNodeKey = hasLength(1, 512);
const isKey = hasLength(1, 1024);
const isChange: Is = byMember('kind', {
  set: record({ kind: is('set'), value: isJson }),
  gone: record({ kind: is('gone') }),
  patch: record({
    kind: is('patch'),
    steps: value => areKnownSteps(value) && value.length > 0,
  }),
});

const isTrigger = record(
  { kind: oneOf(frameTrigger.shape.kind.options) },
  { node: isNodeKey, keys: listOf(isText), detail: isText },
);

const isFrame = record(
  {
    index: isCount,
    at: isTime,
    trigger: isTrigger,
    mounted: listOf(isNodeKey),
    unmounted: listOf(isNodeKey),
    written: listOf(isText),
    digest: isDigest,
    verifiable: isBoolean,
  },
  { planVersion: isLaterVersion },
);

const isInterval = record({
  space: oneOf(intervalSpace.options),
  key: isKey,
  fromFrame: isCount,
  change: isChange,
});

const isTransition = record(
  { frame: isCount, index: isCount, key: isKey, change: isChange, at: isTime },
  { trigger: isName, node: isNodeKey, handler: isName },
);

const isTask = record(
  {
    id: isUuid,
    node: isNodeKey,
    iteration: isCount,
    signature: hasLength(1, 128),
    status: oneOf(taskStatus.options),
    effects: oneOf(task.shape.effects.options),
    retryCount: isCount,
    maxRetries: isCount,
    backoffMs: isCount,
    createdAt: isTime,
  },
  {
    leaseOwner: isOwner,
    blockReason: isName,
    result: isJson,
    handledFrame: isCount,
    startedAt: isTime,
    endedAt: isTime,
  },
);

const isRunChange = record(
  {},
  { status: oneOf(runStatus.options), phase: oneOf(runPhase.options), output: isJson, inputSeq: isCount },
);

const isRun = byMember('kind', {
  create: record({ kind: is('create'), run: isNewRun }),
  change: record({ kind: is('change'), change: isRunChange }),
});

const taskFields = { task: isUuid, node: isNodeKey, iteration: isCount, attempt: isPositive };
const isWholeEvent = byMember('type', {
  'run.created': event('run.created', { driver: oneOf(newRun.shape.driver.options), name: isText }, { by: isText }),
  'run.status': event('run.status', { from: oneOf(runStatus.options), to: oneOf(runStatus.options) }),
  'run.phase': event('run.phase', { phase: oneOf(runPhase.options) }),
  'task.started': event('task.started', taskFields),
  'task.ended': event('task.ended', {
    ...taskFields,
    outcome: oneOf(['done', 'error', 'canceled']),
    stale: isBoolean,
  }),
  'node.status': event('node.status', {
    node: isNodeKey,
    frame: isCount,
    from: oneOf(nodeStatus.options),
    to: oneOf(nodeStatus.options),
  }),
  'state.changed': event(
    'state.changed',
    { frame: isCount, index: isCount, key: isText },
    { trigger: isText, node: isNodeKey, handler: isText },
  ),
  'handler.ran': event('handler.ran', { node: isNodeKey, handler: isName, frame: isCount }, { task: isUuid }),
  'frame.committed': event(
    'frame.committed',
    { frame: isCount, trigger: isTrigger, mounted: isCount, unmounted: isCount, digest: isDigest },
    { planVersion: isLaterVersion },
  ),
});

const isShortEvent = oneOfTuples({
  'task.started': [isCount],
  'task.ended': [isCount, isBoolean],
  'state.changed': [isCount],
  'node.status': [isCount, oneOf(nodeStatus.options)],
  'handler.ran': [isCount, isText, isCount],
  'frame.committed': [],
});
const isEvent: Is = value => (Array.isArray(value) ? isShortEvent(value) : isWholeEvent(value));

const isWriteSet = record(
  { at: isTime },
  {
    run: isRun,
    frame: isFrame,
    intervals: listOf(isInterval),
    transitions: listOf(isTransition),
    tasks: listOf(isTask),
    events: listOf(isEvent),
  },
);

const isGuard = record({ run: isUuid, epoch: isCount, version: isCount });

function event(
  type: InternalEventType | 'run.phase',
  required: Readonly<Record<string, Is>>,
  optional?: Readonly<Record<string, Is>>,
): Is {
  return record({ type: is(type), ...required }, { id: isUuid, ts: isTime, ...optional });
}

/** Lists whose first item determines the others. */
function oneOfTuples(options: Readonly<Record<string, readonly Is[]>>): Is {
  const known = new Map<unknown, readonly Is[]>(Object.entries(options));
  return value => {
    const [type, ...items] = value as readonly unknown[];
    const checks = known.get(type);
    return checks !== undefined && items.length === checks.length && checks.every((is, at) => is(items[at]));
  };
}
