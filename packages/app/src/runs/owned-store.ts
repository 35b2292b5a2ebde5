import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { type ErrorEnvelope, err, ok, type Result, type RunId } from '@signalbox/model';
import { ownerId } from '@signalbox/runs';
import { acquireOwner, type Owner, openStore, type Store } from '@signalbox/store';
import type { Machine } from '../machine.ts';

/** The store of a data directory, for as long as this process owns it. */
export interface OwnedStore {
  readonly store: Store;
  readonly owner: Owner;
  close(): void;
}

/** Makes the data directory if it is missing. One process at a time owns it. */
export function openOwnedStore(dataDirectory: string, { clock, ids }: Machine): Result<OwnedStore, ErrorEnvelope> {
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  const owner = acquireOwner(dataDirectory, { id: ownerId.parse(ids.mint<RunId>()), clock });
  if (!owner.ok) return owner;
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
