import { json, nodeStatus, taskStatus } from '@signalbox/model';
import type { Guard, WriteSet } from './commit.ts';
import type { InternalEventType } from './events/internal-event.ts';
import { frameTrigger } from './frames/frame.ts';
import { intervalSpace } from './frames/interval.ts';
import { task } from './tasks/task.ts';

/**
 * Whether a commit is certainly valid and unchanged by its schemas. False means unknown: the schemas decide. Covers only the shapes that
 * plan steps write over and over; a test compares it with the schemas.
 */
export function isKnownGood(writes: WriteSet, guard: Guard): boolean {
  return isGuard(guard) && isWriteSet(writes);
}

type Is = (value: unknown) => boolean;

const isText: Is = value => typeof value === 'string' && value.isWellFormed();
const isCount: Is = value => Number.isSafeInteger(value) && (value as number) >= 0;
const isPositive: Is = value => isCount(value) && value !== 0;
const isLaterVersion: Is = value => isPositive(value) && value !== 1;
const isBoolean: Is = value => typeof value === 'boolean';
const matches =
  (pattern: RegExp): Is =>
  value =>
    typeof value === 'string' && pattern.test(value);
const isUuid = matches(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
const isDigest = matches(/^sha256:[0-9a-f]{64}$/);
const hasLength =
  (least: number, most = Number.POSITIVE_INFINITY): Is =>
  value =>
    isText(value) && (value as string).length >= least && (value as string).length <= most;
const isNodeKey = hasLength(1, 512);
const isKey = hasLength(1, 1024);
const isOwner = hasLength(1, 128);
const isName = hasLength(1);
const is =
  (literal: unknown): Is =>
  value =>
    value === literal;

function oneOf(options: readonly string[]): Is {
  const known = new Set<unknown>(options);
  return value => known.has(value);
}

function listOf(isItem: Is): Is {
  return value => {
    if (!Array.isArray(value)) return false;
    // Not `every`, which skips holes.
    for (const item of value) if (!isItem(item)) return false;
    return true;
  };
}

/** An object literal with exactly these members; optional ones are absent, not undefined. */
function record(required: Readonly<Record<string, Is>>, optional: Readonly<Record<string, Is>> = {}): Is {
  const members = new Map(Object.entries({ ...required, ...optional }));
  const needed = Object.keys(required);
  return value => {
    if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return false;
    for (const key in value) {
      if (members.get(key)?.((value as Record<string, unknown>)[key]) !== true) return false;
    }
    return needed.every(key => Object.hasOwn(value, key));
  };
}

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

/** Deeper values are left to the schema. */
const MAX_DEPTH = 20;
const isJson: Is = value => isPlain(value, 0);

function isPlain(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed();
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value);
    case 'object':
      return value === null || isPlainContainer(value, depth + 1);
    default:
      return false;
  }
}

function isPlainContainer(container: object, depth: number): boolean {
  if (depth > MAX_DEPTH) return json.safeParse(container).success;
  if (Array.isArray(container)) {
    for (const item of container) if (!isPlain(item, depth)) return false;
    return true;
  }
  if (Object.getPrototypeOf(container) !== Object.prototype) return false;
  for (const key in container) {
    if (!key.isWellFormed() || !isPlain((container as Record<string, unknown>)[key], depth)) return false;
  }
  return true;
}

const isPath = listOf(part => isText(part) || isCount(part));
const isSteps = listOf(
  byMember('op', {
    set: record({ op: is('set'), path: isPath, value: isJson }),
    delete: record({ op: is('delete'), path: isPath }),
    splice: record({
      op: is('splice'),
      path: isPath,
      at: isCount,
      remove: isCount,
      insert: value => isText(value) || (Array.isArray(value) && isJson(value)),
    }),
  }),
);
const isChange: Is = byMember('kind', {
  set: record({ kind: is('set'), value: isJson }),
  gone: record({ kind: is('gone') }),
  patch: record({
    kind: is('patch'),
    steps: value => isSteps(value) && (value as readonly unknown[]).length > 0,
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

const taskFields = { task: isUuid, node: isNodeKey, iteration: isCount, attempt: isPositive };
const isWholeEvent = byMember('type', {
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
    frame: isFrame,
    intervals: listOf(isInterval),
    transitions: listOf(isTransition),
    tasks: listOf(isTask),
    events: listOf(isEvent),
  },
);

const isGuard = record({ run: isUuid, epoch: isCount, version: isCount });

function event(
  type: InternalEventType,
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

/** Chooses by the value of one member. */
function byMember(name: string, options: Readonly<Record<string, Is>>): Is {
  const known = new Map<unknown, Is>(Object.entries(options));
  return value =>
    typeof value === 'object' &&
    value !== null &&
    known.get((value as Record<string, unknown>)[name])?.(value) === true;
}
