import type { ManifestRecord } from '@signalbox/journal';
import {
  canonicalJson,
  type Digest,
  type ErrorEnvelope,
  err,
  type Hasher,
  type Json,
  ok,
  parsedJson,
  type Result,
  tryCanonicalJson,
  utf8Length,
} from '@signalbox/model';
import type * as z from 'zod';
import {
  artifactRefsOf,
  type Bundle,
  bundleEnvelope,
  bundleV1,
  integrityEntries,
  MAX_BUNDLE_BYTES,
  snapshotRefsOf,
  workflowHashesOf,
} from './bundle.ts';
import { type BundleCode, bundleFailure } from './bundle-failure.ts';
import type { DomainEvent } from './domain-event.ts';
import { historyFault } from './history-fault.ts';

export type BundleError = ErrorEnvelope<BundleCode>;

/** Reads a bundle from its text: complete, in order, and matching its digests. Stores nothing. */
export function readBundle(hasher: Hasher, text: string): Result<Bundle, BundleError> {
  if (utf8Length(text) > MAX_BUNDLE_BYTES) {
    return refuse('BUNDLE_INVALID_FORMAT', `it has more than ${MAX_BUNDLE_BYTES} bytes`);
  }
  const value = parsedJson(text);
  if (value === undefined || !tryCanonicalJson(value).ok) return refuse('BUNDLE_INVALID_FORMAT', 'it is not JSON');
  const version = versionOf(value, 'bundleSchemaVersion');
  if (typeof version === 'number' && version !== 1) {
    return refuse('BUNDLE_UNSUPPORTED_VERSION', `it has version ${version}, this program reads version 1`);
  }
  const outer = bundleEnvelope.safeParse(value);
  if (!outer.success) return refuse('BUNDLE_INVALID_FORMAT', firstIssue(outer.error));
  const fault = integrityFault(hasher, outer.data) ?? versionFault(outer.data);
  if (fault !== undefined) return err(fault);
  const inner = bundleV1.safeParse(value);
  if (!inner.success) return refuse('BUNDLE_INVALID_FORMAT', firstIssue(inner.error));
  const contents =
    eventOrderFault(inner.data) ??
    manifestOrderFault(inner.data) ??
    attestationFault(hasher, inner.data) ??
    referenceFault(hasher, inner.data);
  if (contents !== undefined) return err(contents);
  const history = historyFault(inner.data.session.events);
  return history === undefined ? ok(inner.data) : refuse('BUNDLE_INVALID_FORMAT', history);
}

type Envelope = z.infer<typeof bundleEnvelope>;

function integrityFault(hasher: Hasher, { integrity, session }: Envelope): BundleError | undefined {
  const expected = integrityEntries(hasher, session);
  const given = new Map(integrity.entries.map(entry => [entry.path, entry]));
  if (given.size !== integrity.entries.length) {
    return bundleFailure('BUNDLE_INTEGRITY_FAILED', 'a part has two integrity entries');
  }
  for (const { path, sha256, bytes } of expected) {
    const entry = given.get(path);
    if (entry === undefined) return bundleFailure('BUNDLE_INTEGRITY_FAILED', `${path} has no integrity entry`);
    if (entry.sha256 !== sha256 || entry.bytes !== bytes) {
      return bundleFailure('BUNDLE_INTEGRITY_FAILED', `${path} is not what its integrity entry says`);
    }
    given.delete(path);
  }
  const [surplus] = given.keys();
  return surplus === undefined
    ? undefined
    : bundleFailure(
        'BUNDLE_INTEGRITY_FAILED',
        `there is an integrity entry for ${surplus.slice(0, 128)}, which is not there`,
      );
}

/** The first part with an unknown version. */
function versionFault({ session }: Envelope): BundleError | undefined {
  const parts: readonly (readonly [string, readonly Json[], string])[] = [
    ['event', session.events, 'v'],
    ['manifest record', session.manifest, 'v'],
    ['snapshot', Object.values(session.snapshots), 'v'],
    ['workflow', Object.values(session.pinnedWorkflows), 'schemaVersion'],
  ];
  for (const [name, values, field] of parts) {
    const found = values.map(value => versionOf(value, field)).find(v => typeof v === 'number' && v !== 1);
    if (found !== undefined)
      return bundleFailure('BUNDLE_UNSUPPORTED_VERSION', `it holds a ${name} of version ${found}`);
  }
  return undefined;
}

function eventOrderFault({ session }: Bundle): BundleError | undefined {
  for (const [position, event] of session.events.entries()) {
    if (event.eventIndex !== position) {
      return bundleFailure('BUNDLE_EVENT_ORDER_INVALID', `event ${event.eventIndex} stands in place ${position}`);
    }
    if (event.sessionId !== session.sessionId) {
      return bundleFailure('BUNDLE_INVALID_FORMAT', `event ${position} belongs to another session`);
    }
  }
  return session.events.length > 0 ? undefined : bundleFailure('BUNDLE_INVALID_FORMAT', 'it holds no events');
}

function manifestOrderFault({ session }: Bundle): BundleError | undefined {
  const invalid = (why: string) => bundleFailure('BUNDLE_MANIFEST_ORDER_INVALID', why);
  let next = 0;
  for (const [position, record] of session.manifest.entries()) {
    if (record.manifestIndex !== position) return invalid(`record ${record.manifestIndex} stands in place ${position}`);
    if (record.sessionId !== session.sessionId) return invalid(`record ${position} belongs to another session`);
    if (record.kind === 'snapshot_pinned') {
      if (record.eventIndex >= next) return invalid(`record ${position} pins a snapshot before its segment is closed`);
      continue;
    }
    if (record.firstEventIndex !== next || record.lastEventIndex < next) {
      return invalid(`record ${position} begins with event ${record.firstEventIndex}, not ${next}`);
    }
    next = record.lastEventIndex + 1;
  }
  return next === session.events.length ? undefined : invalid(`it attests ${next} of ${session.events.length} events`);
}

/** Segments and pins must be those that the journal created from exactly these events. */
function attestationFault(hasher: Hasher, { session }: Bundle): BundleError | undefined {
  for (const record of session.manifest) {
    const fault =
      record.kind === 'segment_closed'
        ? segmentFault(hasher, session.events, record)
        : pinFault(session.events, record);
    if (fault !== undefined)
      return bundleFailure('BUNDLE_INTEGRITY_FAILED', `record ${record.manifestIndex}: ${fault}`);
  }
  return undefined;
}

function segmentFault(
  hasher: Hasher,
  events: readonly DomainEvent[],
  record: Extract<ManifestRecord, { kind: 'segment_closed' }>,
): string | undefined {
  const lines = events
    .slice(record.firstEventIndex, record.lastEventIndex + 1)
    .map(event => `${canonicalJson(event)}\n`);
  const bytes = lines.join('');
  if (utf8Length(bytes) !== record.bytes || hasher(bytes) !== record.sha256) return 'its segment is not these events';
  return undefined;
}

function pinFault(
  events: readonly DomainEvent[],
  record: Extract<ManifestRecord, { kind: 'snapshot_pinned' }>,
): string | undefined {
  const event = events[record.eventIndex];
  const agrees =
    event?.kind === 'node_created' &&
    event.eventId === record.createdByEventId &&
    event.data.snapshotRef === record.snapshotRef;
  return agrees ? undefined : 'it pins a snapshot that its event did not introduce';
}

function referenceFault(hasher: Hasher, { session }: Bundle): BundleError | undefined {
  for (const ref of snapshotRefsOf(session.events)) {
    if (session.snapshots[ref] === undefined) {
      return bundleFailure('BUNDLE_MISSING_SNAPSHOT', `an event refers to snapshot ${ref}, which is not in it`);
    }
  }
  for (const hash of workflowHashesOf(session.events)) {
    if (session.pinnedWorkflows[hash] === undefined) {
      return bundleFailure('BUNDLE_MISSING_PINNED_WORKFLOW', `a run is pinned to workflow ${hash}, which is not in it`);
    }
  }
  const pinned = new Set(
    session.manifest.flatMap(record => (record.kind === 'snapshot_pinned' ? [record.snapshotRef] : [])),
  );
  const unpinned = [...snapshotRefsOf(session.events)].find(ref => !pinned.has(ref));
  if (unpinned !== undefined) return bundleFailure('BUNDLE_INTEGRITY_FAILED', `snapshot ${unpinned} was never pinned`);
  const stored = [...Object.entries(session.snapshots), ...Object.entries(session.pinnedWorkflows)];
  const misnamed = stored.find(([name, value]) => hasher(canonicalJson(value)) !== (name as Digest));
  if (misnamed !== undefined) {
    return bundleFailure('BUNDLE_INTEGRITY_FAILED', `what is named ${misnamed[0]} has another digest`);
  }
  return session.artifacts && artifactFault(hasher, session.events, session.artifacts);
}

/** The artifacts are exactly those that the outputs refer to. */
function artifactFault(
  hasher: Hasher,
  events: readonly DomainEvent[],
  artifacts: Readonly<Record<Digest, string>>,
): BundleError | undefined {
  const refs = artifactRefsOf(events);
  const lacking = [...refs].find(ref => artifacts[ref] === undefined);
  if (lacking !== undefined) {
    return bundleFailure('BUNDLE_INTEGRITY_FAILED', `an output refers to artifact ${lacking}, which is not in it`);
  }
  for (const [name, artifact] of Object.entries(artifacts)) {
    if (!refs.has(name as Digest)) {
      return bundleFailure('BUNDLE_INTEGRITY_FAILED', `no output refers to artifact ${name}`);
    }
    if (hasher(artifact) !== name) {
      return bundleFailure('BUNDLE_INTEGRITY_FAILED', `the artifact that is named ${name} has another digest`);
    }
  }
  return undefined;
}

function refuse(code: BundleCode, why: string) {
  return err(bundleFailure(code, why));
}

function firstIssue(error: z.ZodError): string {
  const [issue] = error.issues;
  return `${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'is not valid'}`;
}

function versionOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[field] : undefined;
}
