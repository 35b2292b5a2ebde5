import { asJson, err, failure, type Json, json, ok, type Result, timestamp } from '@signalbox/model';
import * as z from 'zod';
import { type SessionSnapshot, sessionSnapshot } from '../session/session-snapshot.ts';
import type { ExecutionState } from './execution-state.ts';
import type { Resources } from './resources.ts';
import { type StateError, snapshotMalformed, snapshotMismatch } from './snapshot-error.ts';

/** When and why a snapshot was taken. */
const snapshotMetadata = z.strictObject({
  tag: z.string().nullable(),
  toolCallId: z.string().nullable(),
  toolName: z.string().nullable(),
  phase: z.enum(['pre_tool', 'post_tool', 'checkpoint', 'manual']),
});
export type SnapshotMetadata = Readonly<z.infer<typeof snapshotMetadata>>;

/** Everything that can be restored, at one point. */
export interface CompositeSnapshot {
  readonly snapshotId: string;
  readonly createdAt: z.infer<typeof timestamp>;
  readonly session: SessionSnapshot;
  /** By resource name; each is the result of that resource's `snapshot`. */
  readonly resources: ReadonlyMap<string, unknown>;
  readonly metadata: SnapshotMetadata;
}

const compositeV1 = z.strictObject({
  version: z.literal(1),
  snapshotId: z.uuid(),
  createdAt: timestamp,
  session: sessionSnapshot,
  resources: z.record(z.string(), json),
  metadata: snapshotMetadata,
});

/** The snapshot as plain data. Everything it refers to is durable when this returns. */
export async function encodeSnapshot(resources: Resources, snapshot: CompositeSnapshot): Promise<Json> {
  const encoded: Record<string, Json> = {};
  for (const [name, own] of snapshot.resources) {
    const resource = resources.snapshotable().get(name);
    if (resource !== undefined) encoded[name] = await resource.encode(own);
  }
  const { snapshotId, createdAt, session, metadata } = snapshot;
  return asJson({ version: 1, snapshotId, createdAt, session, resources: encoded, metadata });
}

export async function decodeSnapshot(
  resources: Resources,
  data: unknown,
): Promise<Result<CompositeSnapshot, StateError>> {
  const version = z.looseObject({ version: z.number() }).safeParse(data);
  if (!version.success) return err(snapshotMalformed('it must be an object with a version'));
  if (version.data.version !== 1) return err(unknownVersion(version.data.version));
  const parsed = compositeV1.safeParse(data);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return err(snapshotMalformed(`${issue?.path.join('.')}: ${issue?.message}`));
  }
  const decoded = new Map<string, unknown>();
  for (const [name, own] of Object.entries(parsed.data.resources)) {
    const resource = resources.snapshotable().get(name);
    if (resource === undefined) return err(snapshotMismatch(`there is no resource ${name}`));
    const value = await resource.decode(own);
    if (!value.ok) return value;
    decoded.set(name, value.value);
  }
  const { snapshotId, createdAt, session, metadata } = parsed.data;
  return ok({ snapshotId, createdAt, session, resources: decoded, metadata });
}

export async function snapshotToJson(resources: Resources, snapshot: CompositeSnapshot): Promise<string> {
  return JSON.stringify(await encodeSnapshot(resources, snapshot));
}

/** A snapshot that can be restored into a state: it has the same slices and resources. */
export async function snapshotFromJson(
  state: Pick<ExecutionState, 'resources' | 'session'>,
  text: string,
): Promise<Result<CompositeSnapshot, StateError>> {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return err(snapshotMalformed('it is not JSON'));
  }
  const decoded = await decodeSnapshot(state.resources, data);
  if (!decoded.ok) return decoded;
  const fits = state.session.stage(decoded.value.session);
  return fits.ok ? decoded : fits;
}

/** Whether two snapshots show the same state, regardless of when and why they were taken. */
export function snapshotsEquivalent(resources: Resources, a: CompositeSnapshot, b: CompositeSnapshot): boolean {
  if (JSON.stringify(a.session.slices) !== JSON.stringify(b.session.slices)) return false;
  if (a.resources.size !== b.resources.size) return false;
  for (const [name, own] of a.resources) {
    if (!b.resources.has(name) || !resources.snapshotable().get(name)?.equivalent(own, b.resources.get(name)))
      return false;
  }
  return true;
}

function unknownVersion(version: number): StateError {
  return failure('state/snapshot-version', {
    message: `the snapshot has version ${version}; this program reads version 1`,
    suggestion: 'Use the program that wrote it, or a newer one.',
    details: { version },
  });
}
