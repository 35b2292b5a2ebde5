import { sqliteCode } from '@signalbox/journal';
import type { ErrorEnvelope, StorageReason } from '@signalbox/model';
import { SQLITE_CANTOPEN, SQLITE_FULL, SQLITE_IOERR, SQLITE_READONLY } from './sqlite/connection.ts';

/** Why the disk refused a write; undefined if the error has another cause. */
export function storageFaultOf({ code, details }: ErrorEnvelope): StorageReason | undefined {
  if (code !== 'STORE_IO_FAILED' && code !== 'store/outcome-unknown') return undefined;
  const known = details as { readonly sqliteCode?: unknown; readonly systemCode?: unknown } | undefined;
  return bySqlite.get(known?.sqliteCode) ?? bySystem.get(known?.systemCode);
}

/** The same for a thrown value. */
export function thrownStorageFault(thrown: unknown): StorageReason | undefined {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  return bySqlite.get(sqliteCode(thrown)) ?? bySystem.get(code);
}

const bySqlite: ReadonlyMap<unknown, StorageReason> = new Map([
  [SQLITE_FULL, 'full'],
  [SQLITE_READONLY, 'read-only'],
  [SQLITE_CANTOPEN, 'failing'],
  [SQLITE_IOERR, 'failing'],
]);

const bySystem: ReadonlyMap<unknown, StorageReason> = new Map([
  ['ENOSPC', 'full'],
  ['EDQUOT', 'full'],
  ['EROFS', 'read-only'],
  ['EIO', 'failing'],
]);
