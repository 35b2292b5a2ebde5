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
import { type CompositeSnapshot, decodeSnapshot, encodeSnapshot } from '../snapshots/composite-snapshot.ts';
import type { Resources } from '../snapshots/resources.ts';
import type { StateError } from '../snapshots/snapshot-error.ts';
import type { KeptFiles } from '../snapshots/snapshotable.ts';
import { type CheckpointLog, createMemoryCheckpointLog } from './checkpoint-log.ts';

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
}

export type CheckpointError = ErrorEnvelope<'state/checkpoint-unknown' | 'state/checkpoint-unreadable'> | StateError;

/** The snapshots of the last calls, in the order in which the calls ended. */
export interface CheckpointStore {
  /** The file that stores them. */
  readonly file?: string;
  /** Throws the log's error if it cannot be written; the checkpoint still exists until a restart. */
  record(checkpoint: ToolCheckpoint, options?: { readonly durable?: boolean }): Promise<void>;
  get(toolCallId: string): ToolCheckpoint | undefined;
  getPreSnapshot(toolCallId: string): CompositeSnapshot | null;
  getPostSnapshot(toolCallId: string): CompositeSnapshot | null;
  list(): readonly ToolCheckpoint[];
}

export const CHECKPOINTS_KEPT = 100;

export function createCheckpointStore(capacity = CHECKPOINTS_KEPT): CheckpointStore {
  const ring = new Map<string, ToolCheckpoint>();
  return {
    async record(checkpoint) {
      keep(ring, checkpoint, capacity);
    },
    get: id => ring.get(id),
    getPreSnapshot: id => ring.get(id)?.pre ?? null,
    getPostSnapshot: id => ring.get(id)?.post ?? null,
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

async function encodeCheckpoint(resources: Resources, { pre, post, ...facts }: ToolCheckpoint): Promise<string> {
  return JSON.stringify({
    version: 1,
    ...facts,
    pre: await encodeSnapshot(resources, pre),
    post: post === null ? null : await encodeSnapshot(resources, post),
  });
}

async function decodeCheckpoint(
  resources: Resources,
  line: string,
  number: number,
): Promise<Result<ToolCheckpoint, CheckpointError>> {
  const parsed = checkpointV1.safeParse(jsonOf(line));
  if (!parsed.success) return err(unreadable(number, parsed.error.issues[0]?.message ?? 'not valid'));
  const { version: _, pre, post, ...facts } = parsed.data;
  const before = await decodeSnapshot(resources, pre);
  if (!before.ok) return before;
  const after = post === null ? ok(null) : await decodeSnapshot(resources, post);
  return after.ok ? ok({ ...facts, pre: before.value, post: after.value }) : after;
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
