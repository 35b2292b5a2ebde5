export { openBlobFiles } from './blobs/blob-files.ts';
export { type Archive, openArchive } from './bundles/open-archive.ts';
export { copyDatabase } from './copy-database.ts';
export { diskFault, diskRefusal, diskRefusalOf } from './disk-fault.ts';
export { SCHEMA_VERSION } from './migrations/migrate.ts';
export { openReader, type Reader } from './open-reader.ts';
export { openStore, type Store, type StoreOptions } from './open-store.ts';
export {
  acquireOwner,
  isOwned,
  type Owner,
  readOwner,
} from './owner/owner-lock.ts';
export { openQueries, type Queries } from './queries/open-queries.ts';
export { type RunValues, readRunValues } from './queries/run-values.ts';
export { openRepair, type Repair } from './repair/open-repair.ts';
export type { RebuildReport } from './repair/rebuild-rows.ts';
export { neededPart } from './retention/blob-names.ts';

export { type Found, findInIndex } from './search/find-in-index.ts';
export { type LogToIndex, openSearchIndex, type SearchEntry, type SearchIndex } from './search/search-index.ts';
export { removeSearchFile } from './search/search-schema.ts';
export { refusedBy } from './sqlite/connection.ts';
export { StoreDamage, StoreFault } from './sqlite/json-column.ts';

export { storageFaultOf, thrownStorageFault } from './storage-fault.ts';
export type { Taken } from './taken-away/taken-away-store.ts';
export { thrownDamage } from './thrown-damage.ts';
export type { ProjectCheck } from './verify/check-project.ts';
export type { LogDefect } from './verify/check-run.ts';
export { readHeldLengths, readLogLengths } from './verify/log-lengths.ts';
