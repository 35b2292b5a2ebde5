export { MAX_PLAN_BYTES, MAX_PLAN_EVENTS } from './append-limits.ts';
export type { AppendPlan } from './append-plan.ts';
export { type ContentStore, openContentStore } from './content-store.ts';
export { type Defect, type DefectCode, defectMeanings, type SessionHealth } from './defect.ts';
export { type Disk, DiskError, type OpenFile } from './disk.ts';
export { placeFile } from './durable-file.ts';
export {
  type DedupeKey,
  dedupeKey,
  type EventDraft,
  type EventSchema,
  eventSchema,
  eventScope,
  type JournalEvent,
  journalEventFields,
} from './event.ts';
export { type HealthError, type IoError, ioFailure, type LockError } from './failures.ts';
export { closeToOthers } from './files/close-to-others.ts';
export { sqliteCode, tryFileLock } from './files/file-lock.ts';
export { hostDisk } from './files/host-disk.ts';
export { lineLocks } from './files/line-locks.ts';
export { nodeHasher } from './files/node-hasher.ts';
export { sqliteLocks } from './files/sqlite-locks.ts';
export { zstdPacking } from './files/zstd-packing.ts';
export {
  type AppendError,
  type Appended,
  type Journal,
  openJournal,
  type Salvaged,
} from './journal.ts';
export type { JournalView } from './journal-view.ts';
export type { FileLocks, HeldLock } from './lock.ts';
export { type ManifestRecord, manifestRecord } from './manifest-record.ts';
export type { SegmentPacking } from './segment-packing.ts';
export { type VerifyReport, verifyJournal } from './verify.ts';
