import { globalMode, nodeStatus, runMode, runPhase, runStatus, taskStatus } from '@signalbox/model';
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
  isJson,
  isPositive,
  isText,
  listOf,
  matches,
  oneOf,
  record,
} from './quick-checks.ts';
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
const isUuid = matches(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
const isDigest = matches(/^sha256:[0-9a-f]{64}$/);
const isNodeKey = hasLength(1, 512);
const isKey = hasLength(1, 1024);
const isOwner = hasLength(1, 128);
const isName = hasLength(1);

/** As `Date` writes it. Other time formats are left to the schema. */
const isTime: Is = value => {
  if (typeof value !== 'string' || value.length !== ISO_LENGTH) return false;
  if (knownTimes.has(value)) return true;
  const ms = Date.parse(value);
  if (Number.isNaN(ms) || new Date(ms).toISOString() !== value) return false;
  if (knownTimes.size >= MAX_TIMES) knownTimes.clear();
  knownTimes.add(value);
  return true;
};
const ISO_LENGTH = '2026-01-01T00:00:00.000Z'.length;
/** A commit repeats the same times, and so does the next one. */
const knownTimes = new Set<string>();
const MAX_TIMES = 64;

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

const isPath: Is = value => isLine(value) && ABSOLUTE.test(value as string);
const isLine = hasLength(1, 4096);
const ABSOLUTE = /^(?:\/|[A-Za-z]:[\\/])/;

const isSource = record(
  {
    root: isPath,
    entry: isName,
    files: listOf(record({ path: isName, digest: isDigest })),
    packages: listOf(record({ name: isName, version: isName })),
    engine: isName,
  },
  { gitCommit: isName },
);

const isNewRun = record(
  {
    driver: oneOf(newRun.shape.driver.options),
    name: hasLength(1, 256),
    tags: value => Array.isArray(value) && value.length <= 64 && listOf(hasLength(1, 128))(value),
    status: oneOf(newRun.shape.status.options),
    phase: oneOf(runPhase.options),
    mode: oneOf(runMode.options),
    globalMode: oneOf(globalMode.options),
    input: isJson,
    limits: record({}),
    seed: isCount,
  },
  {
    correlationId: hasLength(1, 256),
    idempotencyKey: hasLength(1, 256),
    workingDirectory: isPath,
    source: isSource,
    owner: isOwner,
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
