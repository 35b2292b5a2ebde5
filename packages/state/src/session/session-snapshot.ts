import { err, failure, type Json, json, ok, type Result, sessionId, timestamp } from '@signalbox/model';
import * as z from 'zod';
import {
  type SnapshotMismatchError,
  snapshotMismatch,
  type UnregisteredSliceError,
} from '../snapshots/snapshot-error.ts';
import { type AppendList, itemsOf, listOf } from './append-list.ts';
import type { SessionCore } from './session-view.ts';
import { type SlicePolicy, slicePolicy } from './slice-policy.ts';
import type { DispatchError } from './slice-store.ts';

/** An immutable picture of a session, as plain data. */
export const sessionSnapshot = z.strictObject({
  sessionId,
  createdAt: timestamp,
  /** The items of the captured slices. */
  slices: z.record(z.string(), z.array(json).readonly()),
  /** Every registered slice, captured or not. */
  policies: z.record(z.string(), slicePolicy),
  /** The length of each log: a log only grows, so its first items are its old content. */
  logLengths: z.record(z.string(), z.int().nonnegative()),
  parentId: sessionId.nullable(),
  childrenIds: z.array(sessionId).readonly(),
  tags: z.record(z.string(), z.string()),
});
export type SessionSnapshot = Readonly<z.infer<typeof sessionSnapshot>>;

export interface SnapshotOptions {
  /** Which policies to capture; `state` by default. */
  readonly policies?: ReadonlySet<SlicePolicy>;
  /** Captures every slice, whatever its policy. */
  readonly includeAll?: boolean;
  readonly tags?: Readonly<Record<string, string>>;
}

export type RollbackError = SnapshotMismatchError | UnregisteredSliceError | DispatchError;

/** A checked rollback that can be carried out and undone without further checks. */
export interface StagedRollback {
  apply(): void;
  undo(): void;
}

export function captureSlices(
  core: SessionCore,
  options: SnapshotOptions,
): Pick<SessionSnapshot, 'slices' | 'policies' | 'logLengths'> {
  const wanted = options.policies ?? new Set<SlicePolicy>(['state']);
  const slices: Record<string, readonly Json[]> = {};
  const policies: Record<string, SlicePolicy> = {};
  const logLengths: Record<string, number> = {};
  for (const [name, { policy }] of core.registrations) {
    policies[name] = policy;
    if (policy === 'log') logLengths[name] = core.store.get(name).length;
    if (options.includeAll || wanted.has(policy)) slices[name] = itemsOf(core.store.get(name));
  }
  return { slices, policies, logLengths };
}

export function stageRollback(
  core: SessionCore,
  snapshot: SessionSnapshot,
  preserveLogs: boolean,
): Result<StagedRollback, RollbackError> {
  const next = new Map<string, AppendList<Json>>();
  for (const [name, items] of Object.entries(snapshot.slices)) {
    const registration = core.registrations.get(name);
    if (registration === undefined) return err(unregistered(name));
    if (snapshot.policies[name] !== registration.policy) {
      return err(snapshotMismatch(`slice ${name} was ${snapshot.policies[name]} and is ${registration.policy} now`));
    }
    const bad = items.find(item => !registration.slice.item.safeParse(item).success);
    if (bad !== undefined) return err(snapshotMismatch(`slice ${name} no longer accepts an item of the snapshot`));
    if (registration.policy !== 'log' || !preserveLogs) next.set(name, listOf(items));
  }
  for (const [name, { policy }] of core.registrations) {
    const newSince = snapshot.policies[name] === undefined;
    if (!next.has(name) && (policy === 'cache' || (policy === 'state' && newSince))) next.set(name, listOf<Json>([]));
  }
  const before = new Map([...next.keys()].map(name => [name, core.store.get(name)]));
  return ok({ apply: () => core.store.set(next), undo: () => core.store.set(before) });
}

function unregistered(name: string): UnregisteredSliceError {
  return failure('state/slice-unregistered', {
    message: `the snapshot has a slice ${name} that this session does not know`,
    suggestion: 'Register the slice, then restore again.',
  });
}
