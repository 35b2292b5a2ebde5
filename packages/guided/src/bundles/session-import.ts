/**
 * Imports a bundle as a session.
 *
 * I1  A session appears under its id complete, or not at all: it is built beside the sessions and moved there as a directory.
 * I2  Existing sessions are not changed: if its id is taken, a session is imported as new.
 */
import { rmSync } from 'node:fs';
import path from 'node:path';
import { DiskError, type IoError, ioFailure, nodeHasher } from '@signalbox/journal';
import {
  type Clock,
  type Digest,
  type ErrorEnvelope,
  err,
  type IdSource,
  ok,
  type Result,
  type SessionId,
} from '@signalbox/model';
import { type Bundle, bundleFailure, type ImportPlan, planImport, readBundle } from '@signalbox/workflow';
import { entriesOf, modifiedAt } from '../retention/stored-files.ts';
import { contradiction } from '../sessions/guided-failures.ts';
import {
  guardIo,
  openSessionStores,
  SESSIONS,
  type SessionStores,
  type SessionStoresOptions,
} from '../sessions/session-stores.ts';

export interface ImportOptions extends SessionStoresOptions {
  readonly ids: IdSource;
  readonly clock: Clock;
}

export interface SessionImport {
  readonly sessionId: SessionId;
  /** The session's id where it was exported. */
  readonly exportedAs: SessionId;
  /** Whether all its ids are new, because its own is taken here. */
  readonly isNew: boolean;
  readonly events: number;
  readonly head: Digest;
}

const STAGE = '.importing-';

/** A freshly minted id is not taken twice in a row. */
const TRIES = 3;

export async function importSession(
  options: ImportOptions,
  text: string,
): Promise<Result<SessionImport, ErrorEnvelope>> {
  const bundle = readBundle(nodeHasher, text);
  if (!bundle.ok) return bundle;
  const stores = openSessionStores(options);
  const exportedAs = bundle.value.session.sessionId;
  let sessionId = exportedAs;
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const taken = guardIo('looking for the session', () => stores.disk.kind(stores.directoryOf(sessionId)));
    if (!taken.ok) return taken;
    if (taken.value === 'missing') {
      const imported = await importAs(options, stores, bundle.value, sessionId);
      if (!imported.ok || imported.value !== 'taken') {
        return imported.ok ? arrived(stores, sessionId, exportedAs) : (imported as Result<never, ErrorEnvelope>);
      }
    }
    sessionId = options.ids.mint<SessionId>();
  }
  return err(contradiction(sessionId, 'freshly minted ids are taken'));
}

/** The remains of killed imports. Younger ones may still be running. */
export function leftByImports({
  dataDirectory,
  clock,
}: Pick<ImportOptions, 'dataDirectory' | 'clock'>): readonly string[] {
  return entriesOf(dataDirectory)
    .filter(({ name }) => name.startsWith(STAGE))
    .map(({ name }) => path.join(dataDirectory, name))
    .filter(stage => clock.now() - (modifiedAt(stage) ?? 0) >= LEFT_AFTER_MS);
}

const LEFT_AFTER_MS = 60 * 60 * 1000;

async function importAs(
  { dataDirectory, ids }: ImportOptions,
  stores: SessionStores,
  bundle: Bundle,
  sessionId: SessionId,
): Promise<Result<'placed' | 'taken', ErrorEnvelope>> {
  const planned = planImport(bundle, sessionId);
  if (!planned.ok) return planned;
  const contents = {
    workflows: planned.value.pinnedWorkflows,
    artifacts: planned.value.artifacts,
    snapshots: planned.value.snapshots,
  };
  const stage = `${STAGE}${ids.mint<SessionId>()}`;
  try {
    return await stores.storing<'placed' | 'taken', ErrorEnvelope>(contents, async () => {
      const absent = planned.value.namedArtifacts.find(ref => !stores.artifact(ref).ok);
      if (absent !== undefined) {
        return err(
          bundleFailure('BUNDLE_INTEGRITY_FAILED', `artifact ${absent} is neither in the bundle nor stored here`),
        );
      }
      const made = await makeSession(stores, planned.value, stage);
      return made.ok ? moveIntoPlace(stores, dataDirectory, `${dataDirectory}/${stage}/${sessionId}`, sessionId) : made;
    });
  } finally {
    rmSync(path.join(dataDirectory, stage), { recursive: true, force: true });
  }
}

async function makeSession(
  stores: SessionStores,
  { sessionId, plans }: ImportPlan,
  stage: string,
): Promise<Result<undefined, ErrorEnvelope>> {
  const journal = stores.journal(sessionId, stage);
  return journal.withLock<undefined, ErrorEnvelope>(witness => {
    for (const plan of plans) {
      const appended = journal.append(witness, plan);
      if (!appended.ok) return appended;
    }
    return ok(undefined);
  });
}

function moveIntoPlace(
  { disk, directoryOf }: SessionStores,
  dataDirectory: string,
  from: string,
  sessionId: SessionId,
): Result<'placed' | 'taken', IoError> {
  const sessions = `${dataDirectory}/${SESSIONS}`;
  try {
    if (disk.makeDirectory(sessions)) disk.syncDirectory(dataDirectory);
    disk.rename(from, directoryOf(sessionId));
    disk.syncDirectory(sessions);
    return ok('placed');
  } catch (cause) {
    if (!(cause instanceof DiskError)) throw cause;
    if (cause.code === 'ENOTEMPTY' || cause.code === 'EEXIST') return ok('taken');
    return err(ioFailure(cause, `moving session ${sessionId} into place`));
  }
}

function arrived(
  stores: SessionStores,
  sessionId: SessionId,
  exportedAs: SessionId,
): Result<SessionImport, ErrorEnvelope> {
  const view = stores.journal(sessionId).read();
  if (!view.ok) return view;
  const { length, head } = view.value;
  return ok({ sessionId, exportedAs, isNew: sessionId !== exportedAs, events: length, head });
}
