import { nodeHasher, type Salvaged } from '@signalbox/journal';
import {
  type Clock,
  type Digest,
  type ErrorEnvelope,
  type EventId,
  err,
  failure,
  ok,
  type Result,
  type SessionId,
  timestampOf,
} from '@signalbox/model';
import {
  buildBundle,
  type DomainEvent,
  type Export,
  encodeBundle,
  guidedId,
  readManifest,
  sessionGate,
} from '@signalbox/workflow';
import type { GuidedPorts } from '../ports.ts';
import { unknownSession } from '../sessions/find-session.ts';
import { guardIo, openSessionStores, type SessionStoresOptions } from '../sessions/session-stores.ts';

export interface ExportOptions extends SessionStoresOptions {
  readonly ports: Pick<GuidedPorts, 'openBlobs' | 'openSecrets'>;
  readonly clock: Clock;
  readonly appVersion: string;
  /** The digest of the configuration in effect here. */
  readonly appliedConfigHash?: Digest | undefined;
}

export interface SessionExport {
  readonly sessionId: SessionId;
  readonly bundleId: string;
  readonly events: number;
  readonly artifacts: number;
  /** Why the export is partial; it can be looked at but not continued. */
  readonly salvage?: string | undefined;
  /** The bundle: one line of canonical JSON. */
  readonly text: string;
}

/** A session as one text: everything needed to show and continue it elsewhere. Takes no lock. */
export function exportSession(options: ExportOptions, sessionId: SessionId): Result<SessionExport, ErrorEnvelope> {
  const { clock, appVersion, appliedConfigHash } = options;
  const stores = openSessionStores(options);
  const journal = stores.journal(sessionId);
  const read = journal.salvage();
  if (!read.ok) return read;
  const { health, view } = read.value;
  if (!sessionGate(health).mayInspect) {
    const whole = journal.read();
    return whole.ok ? err(unknownSession(`Session ${sessionId} changed while it was being read.`)) : whole;
  }
  if (view.length === 0) return err(unknownSession(`There is no session ${sessionId} in this data directory.`));
  const manifest = guardIo('reading the manifest', () =>
    readManifest(stores.disk, stores.directoryOf(sessionId), view.length),
  );
  if (!manifest.ok) return manifest;
  let fault: ErrorEnvelope | undefined;
  const found = <T>(result: Result<T, ErrorEnvelope>): T | undefined => {
    if (result.ok) return result.value;
    fault ??= result.error;
    return undefined;
  };
  const salvage = salvageOf(read.value);
  const bundle = buildBundle(nodeHasher, {
    // The same state of a session gives the same bundle, whenever it is exported.
    bundleId: guidedId<EventId>('bundle', sessionId, view.head),
    exportedAt: timestampOf(clock),
    producer: { appVersion, ...(appliedConfigHash && { appliedConfigHash }) },
    sessionId,
    events: view.events(),
    manifest: manifest.value,
    ...(salvage && { salvage }),
    snapshotOf: ref => found(stores.snapshot(ref)),
    workflowOf: hash => found(stores.workflow(hash)),
    artifactOf: ref => found(stores.artifact(ref)),
  });
  // A disk failure is not a missing part.
  if (!bundle.ok) return err(fault?.code === 'STORE_IO_FAILED' ? fault : bundle.error);
  const text = encodeBundle(bundle.value);
  const { dataDirectory, ports } = options;
  const { filter } = ports.openSecrets({ dataDirectory, env: process.env, readOnly: true });
  if (filter.has(text)) return err(holdsSecret(sessionId));
  return ok({
    sessionId,
    bundleId: bundle.value.bundleId,
    events: view.length,
    artifacts: Object.keys(bundle.value.session.artifacts ?? {}).length,
    ...(salvage && { salvage: salvage.reason }),
    text,
  });
}

/** Events and artifacts are named by their digests, so a secret cannot be removed from them without changing the session. */
function holdsSecret(sessionId: SessionId): ErrorEnvelope<'session/holds-secret'> {
  return failure('session/holds-secret', {
    message: `Session ${sessionId} was not exported: it holds a secret, in its workflow or in content recorded before the secret was known.`,
    suggestion:
      'Replace the secret at its vendor. If it is in the workflow, remove it there and walk the workflow again.',
    details: { sessionId },
  });
}

function salvageOf({ health, defect }: Salvaged<DomainEvent>): Export['salvage'] {
  return health === 'corrupt_tail' ? { health, reason: defect?.code ?? 'unknown' } : undefined;
}
