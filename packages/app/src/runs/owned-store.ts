import path from 'node:path';
import { nodeHasher } from '@signalbox/journal';
import { type ErrorEnvelope, err, failure, ok, type Result, type RunId } from '@signalbox/model';
import { ownerId, redactingCommit } from '@signalbox/runs';
import { acquireOwner, type Owner, openStore, type Store } from '@signalbox/store';
import type { Machine } from '../machine.ts';
import { makePrivateDirectory } from '../private-directory.ts';
import { openSecrets, type Secrets } from '../secrets/open-secrets.ts';

/** The store of a data directory, for as long as this process owns it. */
export interface OwnedStore {
  readonly store: Store;
  readonly owner: Owner;
  /** What nothing that is committed may hold. */
  readonly secrets: Secrets;
  close(): void;
}

/** Makes the data directory if it is missing. One process at a time owns it. */
export function openOwnedStore(
  dataDirectory: string,
  { clock, ids }: Machine,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Result<OwnedStore, ErrorEnvelope> {
  try {
    makePrivateDirectory(dataDirectory);
  } catch (cause) {
    return err(notMade(dataDirectory, cause));
  }
  const owner = acquireOwner(dataDirectory, { id: ownerId.parse(ids.mint<RunId>()), clock });
  if (!owner.ok) return owner;
  const store = openStore({ path: path.join(dataDirectory, 'db.sqlite') });
  if (!store.ok) {
    owner.value.release();
    return err(store.error);
  }
  const secrets = openSecrets({ dataDirectory, env });
  return ok({
    store: { ...store.value, ...redactingCommit(store.value, secrets.filter, nodeHasher) },
    owner: owner.value,
    secrets,
    close() {
      store.value.close();
      owner.value.release();
    },
  });
}

function notMade(dataDirectory: string, cause: unknown): ErrorEnvelope<'store/unusable'> {
  const why = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  return failure('store/unusable', {
    message: `The data directory ${dataDirectory} cannot be made (${why}).`,
    suggestion: 'Choose another one with --data-dir or SIGNALBOX_DATA_DIR.',
  });
}
