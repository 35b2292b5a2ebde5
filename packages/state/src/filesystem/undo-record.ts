import { type Digest, defined } from '@signalbox/model';
import type { KeptFiles } from '../snapshots/snapshotable.ts';
import type { FileCall } from './filesystem.ts';
import type { RestoreStep } from './restore-plan.ts';
import { stagingName } from './staging-name.ts';
import type { UndoRecord } from './undo-log.ts';

/** The record of a call that begins, or of a restore on its own. */
export function filesRecord(
  id: string,
  call: Pick<FileCall, 'id' | 'tool' | 'paths' | 'evaluation' | 'programs'>,
  root: string,
  identity: string,
  before: Digest | null,
  startedAt: number,
): UndoRecord {
  const limit = call.paths === undefined ? {} : { paths: [...call.paths] };
  const { id: callId, tool, evaluation } = call;
  const charged = evaluation === undefined ? {} : { evaluation };
  return {
    version: 1,
    id,
    callId,
    tool,
    startedAt,
    ...charged,
    work: { kind: 'files', root, identity, before, ...limit, ...defined({ programs: call.programs }) },
  };
}

/** The record of a restore with everything needed to finish it. */
export function withStaging(record: UndoRecord, key: string, staging: string, endedAt: number | undefined): UndoRecord {
  if (record.work.kind !== 'files') return record;
  const named = staging === stagingName(key) ? {} : { staging };
  return { ...record, work: { ...record.work, ...named, ...defined({ endedAt }) } };
}

export function withKept(record: UndoRecord, { digest, paths }: KeptFiles): UndoRecord {
  if (record.work.kind !== 'files') return record;
  return { ...record, work: { ...record.work, kept: { digest, paths: [...paths] } } };
}

/** The record of a restore that may have changed something; null: nothing changed. */
export function restoring(record: UndoRecord, staging: string, steps: readonly RestoreStep[] | null): UndoRecord {
  if (record.work.kind !== 'files') return record;
  const { restoring: _, ...work } = record.work;
  return { ...record, work: steps === null ? work : { ...work, restoring: { staging, steps: [...steps] } } };
}

export function isRestoring({ work }: UndoRecord): boolean {
  return work.kind === 'files' && work.restoring !== undefined;
}
