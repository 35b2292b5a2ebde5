export { type BlobFiles, type BlobFilesOptions, openBlobFiles } from './blobs/blob-files.ts';
export { type Archive, openArchive } from './bundles/open-archive.ts';
export { copyDatabase } from './copy-database.ts';
export { diskFault, diskRefusal, diskRefusalOf } from './disk-fault.ts';
export { SCHEMA_VERSION } from './migrations/migrate.ts';
export { openReader, type Reader } from './open-reader.ts';
export { openStore, type Store, type StoreError, type StoreOptions } from './open-store.ts';
export {
  acquireOwner,
  type Owner,
  type OwnerError,
  type OwnerOptions,
  type OwnerRecord,
  readOwner,
} from './owner/owner-lock.ts';
export { openQueries, type Queries } from './queries/open-queries.ts';
export { openRepair, type Repair, type RepairError } from './repair/open-repair.ts';
export type { Defective, RebuildReport } from './repair/rebuild-rows.ts';
export { neededPart } from './retention/blob-names.ts';
export type { BlobFile } from './retention/blob-sweep.ts';
export type { RetentionError, RetentionStore, Weight } from './retention/retention-store.ts';
export { refusedBy } from './sqlite/connection.ts';
export { StoreDamage, StoreFault } from './sqlite/json-column.ts';
export type { ReadError } from './sqlite/read-connection.ts';
export { storageFaultOf, thrownStorageFault } from './storage-fault.ts';
export type { RedactRequest, TakeError, Taken, TakenAwayStore, TakeRequest } from './taken-away/taken-away-store.ts';
export { thrownDamage } from './thrown-damage.ts';
export type { LogCheck, LogDefect } from './verify/check-run.ts';
export { readLogLengths } from './verify/log-lengths.ts';
