import { readdirSync } from 'node:fs';
import path from 'node:path';
import { closeToOthers, nodeHasher } from '@signalbox/journal';
import { type ErrorEnvelope, err, ok, type Result, type RunId } from '@signalbox/model';
import { ownerId, redactingCommit, redactingProjects } from '@signalbox/runs';
import { acquireOwner, diskRefusal, type Owner, openStore, type Store } from '@signalbox/store';
import { makeDataDirectory } from '../data-directory-fault.ts';
import type { Machine } from '../machine.ts';
import { openSecrets, type Secrets } from '../secrets/open-secrets.ts';
import { keepReserve, releaseReserve } from '../storage/reserve.ts';

/** The store of a data directory, while this process owns it. */
export interface OwnedStore {
  readonly store: Store;
  readonly owner: Owner;
  /** Values that no commit may hold. */
  readonly secrets: Secrets;
  close(): void;
}

/** Creates the data directory if it is missing. One process at a time owns it. With `makesRoom`, its reserve can be used to open it. */
export function openOwnedStore(
  dataDirectory: string,
  { clock, ids }: Machine,
  env: Readonly<Record<string, string | undefined>> = process.env,
  makesRoom = false,
): Result<OwnedStore, ErrorEnvelope> {
  const fault = makeDataDirectory(dataDirectory);
  if (fault !== undefined) return err(fault);
  const owner = acquireOwner(dataDirectory, { id: ownerId.parse(ids.mint<RunId>()), clock });
  if (!owner.ok) {
    return err((owner.error.code === 'STORE_LOCK_UNUSABLE' && diskRefusal(dataDirectory)) || owner.error);
  }
  // Files that an earlier version, or a copy, left readable for others.
  for (const name of readdirSync(dataDirectory)) closeToOthers(path.join(dataDirectory, name));
  if (makesRoom) releaseReserve(dataDirectory);
  const store = openStore({ path: path.join(dataDirectory, 'db.sqlite') });
  if (!store.ok) {
    owner.value.release();
    return err(store.error);
  }
  if (!makesRoom) keepReserve(dataDirectory);
  const secrets = openSecrets({ dataDirectory, env });
  return ok({
    store: {
      ...store.value,
      ...redactingCommit(store.value, secrets.filter, nodeHasher),
      ...redactingProjects(store.value, secrets.filter),
    },
    owner: owner.value,
    secrets,
    close() {
      store.value.close();
      owner.value.release();
    },
  });
}
