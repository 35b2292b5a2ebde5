import {
  digest,
  type ErrorEnvelope,
  err,
  failure,
  type Json,
  json,
  ok,
  type Result,
  timestamp,
} from '@signalbox/model';
import * as z from 'zod';
import { type FilesystemSnapshot, filesystem } from '../filesystem/filesystem.ts';
import { type InnerCall, innerCall } from '../layers/stretch.ts';
import { type CompositeSnapshot, decodeSnapshot, encodeSnapshot } from '../snapshots/composite-snapshot.ts';
import type { Resources } from '../snapshots/resources.ts';
import type { StateError } from '../snapshots/snapshot-error.ts';
import type { KeptFiles } from '../snapshots/snapshotable.ts';
import { type CheckpointLog, createMemoryCheckpointLog } from './checkpoint-log.ts';
import { innerCheckpoint } from './inner-checkpoints.ts';

const outcome = z.enum(['succeeded', 'failed', 'unknown']);

/** Facts about a call, apart from its snapshots. */
const checkpointFacts = {
  toolCallId: z.string().min(1),
  toolName: z.string(),
  outcome,
  resultSummary: z.string().nullable(),
  elapsedMs: z.number().nullable(),
  recordedAt: timestamp,
  kept: z.strictObject({ digest, paths: z.array(z.string()).readonly() }).optional(),
};
const checkpointV1 = z.strictObject({ version: z.literal(1), ...checkpointFacts, pre: json, post: json.nullable() });
/** With the calls that its program made by itself. */
const checkpointV2 = z.strictObject({
  ...checkpointV1.shape,
  version: z.literal(2),
  stretches: z.array(z.strictObject({ call: innerCall.optional(), before: json, after: json })),
});
const checkpointLine = z.discriminatedUnion('version', [checkpointV1, checkpointV2]);

/** A tool call with the state before it and, if it succeeded, after it. */
export interface ToolCheckpoint {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly pre: CompositeSnapshot;
  readonly post: CompositeSnapshot | null;
  readonly outcome: z.infer<typeof outcome>;
  readonly resultSummary: string | null;
  readonly elapsedMs: number | null;
  readonly recordedAt: z.infer<typeof timestamp>;
  /** Files that the rollback of the call overwrote or removed; they can be restored. */
  readonly kept?: KeptFiles | undefined;
  /** Its file changes in order, if some of them belong to calls that its program made by itself. */
  readonly stretches?: readonly CheckpointStretch[] | undefined;
}

/** A part of a call's file changes. */
export interface CheckpointStretch {
  readonly call?: InnerCall | undefined;
  readonly before: FilesystemSnapshot;
  readonly after: FilesystemSnapshot;
}

export type CheckpointError = ErrorEnvelope<'state/checkpoint-unknown' | 'state/checkpoint-unreadable'> | StateError;

/** The snapshots of the last calls, in the order in which the calls ended. */
export interface CheckpointStore {
  /** The file that stores them. */
  readonly file?: string;
  /** Throws the log's error if it cannot be written; the checkpoint still exists until a restart. */
  record(checkpoint: ToolCheckpoint, options?: { readonly durable?: boolean }): Promise<void>;
  /** Of a call, or of one that its program made. */
  get(toolCallId: string): ToolCheckpoint | undefined;
  getPreSnapshot(toolCallId: string): CompositeSnapshot | null;
  getPostSnapshot(toolCallId: string): CompositeSnapshot | null;
  list(): readonly ToolCheckpoint[];
}

export const CHECKPOINTS_KEPT = 100;

export function createCheckpointStore(capacity = CHECKPOINTS_KEPT): CheckpointStore {
  const ring = new Map<string, ToolCheckpoint>();
  const get = (id: string) => ring.get(id) ?? innerCheckpoint([...ring.values()], id);
  return {
    async record(checkpoint) {
      keep(ring, checkpoint, capacity);
    },
    get,
    getPreSnapshot: id => get(id)?.pre ?? null,
    getPostSnapshot: id => get(id)?.post ?? null,
    list: () => [...ring.values()],
  };
}

/** A store whose checkpoints survive a restart. Snapshots are read back, and checked, when it is opened. */
export async function openCheckpointStore(options: {
  readonly log?: CheckpointLog;
  readonly resources: Resources;
  readonly capacity?: number;
}): Promise<Result<CheckpointStore, CheckpointError>> {
  const { log = createMemoryCheckpointLog(), resources, capacity = CHECKPOINTS_KEPT } = options;
  const ring = createCheckpointStore(capacity);
  const lines = await log.load();
  for (const [index, line] of lines.entries()) {
    if (index < lines.length - capacity) continue;
    const loaded = await decodeCheckpoint(resources, line, index + 1);
    if (!loaded.ok) return loaded;
    await ring.record(loaded.value);
  }
  let written = lines.length;
  return ok({
    ...ring,
    ...(log.file !== undefined && { file: log.file }),
    async record(checkpoint, { durable = true } = {}) {
      await ring.record(checkpoint);
      await log.append(await encodeCheckpoint(resources, checkpoint), { durable });
      if (++written < capacity * 2) return;
      await log.rewrite(await Promise.all(ring.list().map(one => encodeCheckpoint(resources, one))));
      written = ring.list().length;
    },
  });
}

function keep(ring: Map<string, ToolCheckpoint>, checkpoint: ToolCheckpoint, capacity: number): void {
  ring.delete(checkpoint.toolCallId);
  ring.set(checkpoint.toolCallId, checkpoint);
  for (const oldest of ring.keys()) {
    if (ring.size <= capacity) break;
    ring.delete(oldest);
  }
}

async function encodeCheckpoint(
  resources: Resources,
  { pre, post, stretches, ...facts }: ToolCheckpoint,
): Promise<string> {
  const line = {
    version: 1,
    ...facts,
    pre: await encodeSnapshot(resources, pre),
    post: post === null ? null : await encodeSnapshot(resources, post),
  };
  const files = resources.get(filesystem);
  if (stretches === undefined || files === undefined) return JSON.stringify(line);
  const encoded = [];
  for (const { call, before, after } of stretches)
    encoded.push({ call, before: await files.encode(before), after: await files.encode(after) });
  return JSON.stringify({ ...line, version: 2, stretches: encoded });
}

async function decodeCheckpoint(
  resources: Resources,
  line: string,
  number: number,
): Promise<Result<ToolCheckpoint, CheckpointError>> {
  const parsed = checkpointLine.safeParse(jsonOf(line));
  if (!parsed.success) return err(unreadable(number, parsed.error.issues[0]?.message ?? 'not valid'));
  const { version: _, pre, post, ...more } = parsed.data;
  const { stretches: encoded, ...facts } = { stretches: undefined, ...more };
  const before = await decodeSnapshot(resources, pre);
  if (!before.ok) return before;
  const after = post === null ? ok(null) : await decodeSnapshot(resources, post);
  if (!after.ok) return after;
  const whole = { ...facts, pre: before.value, post: after.value };
  const files = resources.get(filesystem);
  if (encoded === undefined || files === undefined) return ok(whole);
  const stretches: CheckpointStretch[] = [];
  for (const one of encoded) {
    const [own, other] = [await files.decode(one.before), await files.decode(one.after)];
    if (!own.ok) return own;
    if (!other.ok) return other;
    stretches.push({ ...(one.call && { call: one.call }), before: own.value, after: other.value });
  }
  return ok({ ...whole, stretches });
}

function jsonOf(line: string): Json | undefined {
  try {
    return JSON.parse(line) as Json;
  } catch {
    return undefined;
  }
}

function unreadable(line: number, reason: string): CheckpointError {
  return failure('state/checkpoint-unreadable', {
    message: `checkpoint ${line} cannot be read: ${reason}`,
    suggestion: 'Move the checkpoints away to start without them; files and state are not affected.',
  });
}
