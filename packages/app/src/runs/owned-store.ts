import { readdirSync } from 'node:fs';
import path from 'node:path';
import { closeToOthers } from '@signalbox/journal';
import { type ErrorEnvelope, err, failure, ok, type Result, type RunId } from '@signalbox/model';
import { ownerId } from '@signalbox/runs';
import { acquireOwner, diskRefusal, type Owner, openStore, type Store } from '@signalbox/store';
import { dataDirectoryFault } from '../data-directory-fault.ts';
import type { Machine } from '../machine.ts';
import { makePrivateDirectory } from '../private-directory.ts';

/** The store of a data directory, for as long as this process owns it. */
export interface OwnedStore {
  readonly store: Store;
  readonly owner: Owner;
  close(): void;
}

/** Makes the data directory if it is missing. One process at a time owns it. */
export function openOwnedStore(dataDirectory: string, { clock, ids }: Machine): Result<OwnedStore, ErrorEnvelope> {
  const fault = dataDirectoryFault(dataDirectory);
  if (fault !== undefined) return err(fault);
  try {
    makePrivateDirectory(dataDirectory);
  } catch (cause) {
    return err(notMade(dataDirectory, cause));
  }
  const owner = acquireOwner(dataDirectory, { id: ownerId.parse(ids.mint<RunId>()), clock });
  if (!owner.ok) {
    return err((owner.error.code === 'STORE_LOCK_UNUSABLE' && diskRefusal(dataDirectory)) || owner.error);
  }
  // What an earlier version, or a copy, left readable for others.
  for (const name of readdirSync(dataDirectory)) closeToOthers(path.join(dataDirectory, name));
  const store = openStore({ path: path.join(dataDirectory, 'db.sqlite') });
  if (!store.ok) {
    owner.value.release();
    return err(store.error);
  }
  return ok({
    store: store.value,
    owner: owner.value,
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
