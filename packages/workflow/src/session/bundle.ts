import { type ManifestRecord, manifestRecord } from '@signalbox/journal';
import {
  canonicalJson,
  type Digest,
  digest,
  type ErrorEnvelope,
  err,
  type Hasher,
  type Json,
  json,
  ok,
  type Result,
  type SessionId,
  sessionId,
  text,
  timestamp,
  utf8Length,
} from '@signalbox/model';
import * as z from 'zod';
import { type CompiledWorkflowSnapshotV1, compiledWorkflowSnapshotV1 } from '../compile/compiled-workflow.ts';
import { boundedText } from './bounded-text.ts';
import { bundleFailure } from './bundle-failure.ts';
import { type DomainEvent, domainEventV1 } from './domain-event.ts';
import { type ExecutionSnapshotFileV1, executionSnapshotFileV1 } from './execution-snapshot.ts';

/**
 * A session in one JSON text, to be resumed elsewhere: events, manifest, snapshots, the pinned workflows and the texts of
 * artifacts, each with its digest. It contains no tokens: new ones are minted at the destination.
 */

/** The size limit for reading. */
export const MAX_BUNDLE_BYTES = 256 * 1024 * 1024;

const integrityEntry = z.strictObject({ path: text, sha256: digest, bytes: z.int().nonnegative() });
export type IntegrityEntry = Readonly<z.infer<typeof integrityEntry>>;

const pinnedWorkflow: z.ZodType<CompiledWorkflowSnapshotV1> = compiledWorkflowSnapshotV1;

const head = {
  bundleSchemaVersion: z.literal(1),
  bundleId: z.guid(),
  exportedAt: timestamp,
  producer: z.strictObject({ appVersion: boundedText('identifier').min(1), appliedConfigHash: digest.optional() }),
  /** Present only if the session was damaged and this is its valid prefix: it can be viewed, not resumed. */
  salvage: z.strictObject({ health: z.literal('corrupt_tail'), reason: text }).optional(),
  integrity: z.strictObject({ kind: z.literal('sha256_manifest_v1'), entries: z.array(integrityEntry) }),
};

/** Only the envelope; its content is checked after the digests. */
export const bundleEnvelope = z.strictObject({
  ...head,
  session: z.strictObject({
    sessionId,
    events: z.array(json),
    manifest: z.array(json),
    snapshots: z.record(digest, json),
    pinnedWorkflows: z.record(digest, json),
    artifacts: z.record(digest, json).optional(),
  }),
});

export const bundleV1 = z.strictObject({
  ...head,
  session: z.strictObject({
    sessionId,
    events: z.array(domainEventV1),
    manifest: z.array(manifestRecord),
    snapshots: z.record(digest, executionSnapshotFileV1),
    pinnedWorkflows: z.record(digest, pinnedWorkflow),
    /** The artifacts that outputs refer to, as submitted. A bundle without this field has only their names. */
    artifacts: z.record(digest, text).optional(),
  }),
});
export type Bundle = z.infer<typeof bundleV1>;

export interface Export {
  readonly bundleId: string;
  readonly exportedAt: Bundle['exportedAt'];
  readonly producer: Bundle['producer'];
  readonly sessionId: SessionId;
  readonly events: readonly DomainEvent[];
  readonly manifest: readonly ManifestRecord[];
  /** Set if the events are the valid prefix of a damaged session. */
  readonly salvage?: Bundle['salvage'];
  readonly snapshotOf: (ref: Digest) => ExecutionSnapshotFileV1 | undefined;
  readonly workflowOf: (hash: Digest) => CompiledWorkflowSnapshotV1 | undefined;
  /** If given, the bundle contains every artifact that an output refers to. */
  readonly artifactOf?: ((ref: Digest) => string | undefined) | undefined;
}

type BuildError = ErrorEnvelope<
  'BUNDLE_MISSING_SNAPSHOT' | 'BUNDLE_MISSING_PINNED_WORKFLOW' | 'BUNDLE_INTEGRITY_FAILED'
>;

export function buildBundle(hasher: Hasher, session: Export): Result<Bundle, BuildError> {
  const snapshots: Record<Digest, ExecutionSnapshotFileV1> = {};
  for (const ref of snapshotRefsOf(session.events)) {
    const snapshot = session.snapshotOf(ref);
    if (snapshot === undefined) return err(bundleFailure('BUNDLE_MISSING_SNAPSHOT', `snapshot ${ref} is not at hand`));
    snapshots[ref] = snapshot;
  }
  const pinnedWorkflows: Record<Digest, CompiledWorkflowSnapshotV1> = {};
  for (const hash of workflowHashesOf(session.events)) {
    const workflow = session.workflowOf(hash);
    if (workflow === undefined) {
      return err(bundleFailure('BUNDLE_MISSING_PINNED_WORKFLOW', `workflow ${hash} is not at hand`));
    }
    pinnedWorkflows[hash] = workflow;
  }
  const artifacts: Record<Digest, string> = {};
  for (const ref of session.artifactOf === undefined ? [] : artifactRefsOf(session.events)) {
    const artifact = session.artifactOf?.(ref);
    if (artifact === undefined) return err(bundleFailure('BUNDLE_INTEGRITY_FAILED', `artifact ${ref} is not at hand`));
    artifacts[ref] = artifact;
  }
  const contents = {
    sessionId: session.sessionId,
    events: [...session.events],
    manifest: [...session.manifest],
    snapshots,
    pinnedWorkflows,
    ...(session.artifactOf && { artifacts }),
  };
  return ok({
    bundleSchemaVersion: 1,
    bundleId: session.bundleId,
    exportedAt: session.exportedAt,
    producer: session.producer,
    ...(session.salvage && { salvage: session.salvage }),
    integrity: { kind: 'sha256_manifest_v1', entries: [...integrityEntries(hasher, contents)] },
    session: contents,
  });
}

/** The text of a bundle: exporting the same session at the same time gives the same bytes. */
export function encodeBundle(bundle: Bundle): string {
  return canonicalJson(bundle);
}

/** One entry for each part, ordered by path. */
export function integrityEntries(
  hasher: Hasher,
  contents: {
    readonly events: unknown;
    readonly manifest: unknown;
    readonly snapshots: object;
    readonly pinnedWorkflows: object;
    readonly artifacts?: object | undefined;
  },
): readonly IntegrityEntry[] {
  const parts: (readonly [path: string, value: unknown])[] = [
    ['session/events', contents.events],
    ['session/manifest', contents.manifest],
    ...Object.entries(contents.snapshots).map(([ref, value]) => [`session/snapshots/${ref}`, value] as const),
    ...Object.entries(contents.pinnedWorkflows).map(
      ([hash, value]) => [`session/pinnedWorkflows/${hash}`, value] as const,
    ),
    ...Object.entries(contents.artifacts ?? {}).map(([ref, value]) => [`session/artifacts/${ref}`, value] as const),
  ];
  return parts
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([path, value]) => {
      const canonical = canonicalJson(value as Json);
      return { path, sha256: hasher(canonical), bytes: utf8Length(canonical) };
    });
}

export function snapshotRefsOf(events: readonly DomainEvent[]): ReadonlySet<Digest> {
  return new Set(events.flatMap(event => (event.kind === 'node_created' ? [event.data.snapshotRef] : [])));
}

export function workflowHashesOf(events: readonly DomainEvent[]): ReadonlySet<Digest> {
  return new Set(events.flatMap(event => (event.kind === 'run_started' ? [event.data.workflowHash] : [])));
}

export function artifactRefsOf(events: readonly DomainEvent[]): ReadonlySet<Digest> {
  return new Set(
    events.flatMap(({ kind, data }) =>
      kind === 'node_output_appended' && data.payload.payloadKind === 'artifact_ref' ? [data.payload.sha256] : [],
    ),
  );
}
