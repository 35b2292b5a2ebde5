import { readdirSync } from 'node:fs';
import path from 'node:path';
import { closeToOthers } from '@signalbox/journal';
import { type ErrorEnvelope, err, ok, type Result, type RunId } from '@signalbox/model';
import { ownerId } from '@signalbox/runs';
import { acquireOwner, diskRefusal, type Owner, openStore, type Store } from '@signalbox/store';
import { makeDataDirectory } from '../data-directory-fault.ts';
import type { Machine } from '../machine.ts';

/** The store of a data directory, for as long as this process owns it. */
export interface OwnedStore {
  readonly store: Store;
  readonly owner: Owner;
  close(): void;
}

/** Makes the data directory if it is missing. One process at a time owns it. */
export function openOwnedStore(dataDirectory: string, { clock, ids }: Machine): Result<OwnedStore, ErrorEnvelope> {
  const fault = makeDataDirectory(dataDirectory);
  if (fault !== undefined) return err(fault);
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
