import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { type DefectCode, nodeHasher, type SessionHealth } from '@signalbox/journal';
import { canonicalJson, type Digest } from '@signalbox/model';

/** The files of one guided session in a data directory. */
interface SessionFolder {
  readonly home: string;
  readonly directory: string;
}

interface Damage {
  readonly health: SessionHealth;
  readonly make: (folder: SessionFolder) => void;
  /** A head that was kept elsewhere. */
  readonly expectHead?: (heads: { readonly first: Digest }) => Digest;
  /** Seen only by a reader that had read what is gone. */
  readonly isOfReaders?: true;
}

const manifestOf = ({ directory }: SessionFolder) => path.join(directory, 'manifest.jsonl');
const recordsOf = (folder: SessionFolder): Record<string, unknown>[] =>
  linesOf(manifestOf(folder)).map(line => JSON.parse(line) as Record<string, unknown>);
const linesOf = (file: string): string[] => readFileSync(file, 'utf8').trimEnd().split('\n');
const writeLines = (file: string, lines: readonly string[]): void => writeFileSync(file, `${lines.join('\n')}\n`);

function editRecords(
  folder: SessionFolder,
  edit: (records: Record<string, unknown>[]) => readonly Record<string, unknown>[],
): void {
  writeLines(
    manifestOf(folder),
    edit(recordsOf(folder)).map(record => canonicalJson(record)),
  );
}

/** Changes the last segment's record, or the first pin's. */
function editLast(folder: SessionFolder, kind: string, edit: Record<string, unknown>): void {
  editRecords(folder, records => {
    const at = records.findLastIndex(record => record.kind === kind);
    return records.with(at, { ...records[at], ...edit });
  });
}

function lastSegment({ directory }: SessionFolder): string {
  const events = path.join(directory, 'events');
  return path.join(events, readdirSync(events).sort().at(-1) ?? '');
}

/** Changes the last segment and attests the change, as a forger would who knows the format. */
function forge(folder: SessionFolder, edit: (lines: string[]) => readonly string[]): void {
  const file = lastSegment(folder);
  writeLines(file, edit(linesOf(file)));
  const bytes = readFileSync(file);
  editLast(folder, 'segment_closed', { bytes: bytes.length, sha256: nodeHasher(bytes) });
}

const editFirst = (edit: Record<string, unknown>) => (lines: string[]) =>
  lines.with(0, canonicalJson({ ...JSON.parse(lines[0] ?? ''), ...edit }));

function firstSnapshot({ home }: SessionFolder): string {
  const folder = path.join(home, 'snapshots');
  return path.join(folder, readdirSync(folder).sort()[0] ?? '');
}

const OTHER = '01900000-0000-7000-8000-00000000000f';

/** How each defect comes to be in a session of two appends. */
export const defects: Readonly<Record<DefectCode, Damage>> = {
  manifest_not_a_file: {
    health: 'corrupt_head',
    make(folder) {
      rmSync(manifestOf(folder));
      mkdirSync(manifestOf(folder));
    },
  },
  manifest_shrunk: { health: 'corrupt_tail', make: folder => truncateSync(manifestOf(folder), 0), isOfReaders: true },
  record_not_json: {
    health: 'corrupt_head',
    make: folder => writeLines(manifestOf(folder), ['{', ...linesOf(manifestOf(folder)).slice(1)]),
  },
  record_invalid: { health: 'corrupt_tail', make: folder => editLast(folder, 'segment_closed', { approvedBy: 'me' }) },
  record_not_canonical: {
    health: 'corrupt_head',
    make: folder => {
      const [first = '', ...rest] = linesOf(manifestOf(folder));
      writeLines(manifestOf(folder), [first.replace(':', ': '), ...rest]);
    },
  },
  record_version_unknown: {
    health: 'unknown_version',
    make: folder => editLast(folder, 'segment_closed', { v: 2 }),
  },
  record_out_of_order: {
    health: 'corrupt_tail',
    make: folder => editLast(folder, 'segment_closed', { manifestIndex: 99 }),
  },
  session_mismatch: {
    health: 'corrupt_tail',
    make: folder => editLast(folder, 'segment_closed', { sessionId: OTHER }),
  },
  segment_out_of_order: {
    health: 'corrupt_tail',
    make: folder => editLast(folder, 'segment_closed', { firstEventIndex: 0 }),
  },
  segment_path_refused: {
    health: 'corrupt_tail',
    make: folder => editLast(folder, 'segment_closed', { segmentRelPath: '../manifest.jsonl' }),
  },
  segment_missing: { health: 'corrupt_tail', make: folder => rmSync(lastSegment(folder)) },
  segment_not_a_file: {
    health: 'corrupt_tail',
    make(folder) {
      const file = lastSegment(folder);
      rmSync(file);
      mkdirSync(file);
    },
  },
  segment_size_mismatch: { health: 'corrupt_tail', make: folder => appendFileSync(lastSegment(folder), ' ') },
  segment_digest_mismatch: {
    health: 'corrupt_tail',
    make: folder => editLast(folder, 'segment_closed', { sha256: nodeHasher('something else') }),
  },
  event_not_json: { health: 'corrupt_tail', make: folder => forge(folder, lines => lines.with(0, '{')) },
  event_version_unknown: { health: 'unknown_version', make: folder => forge(folder, editFirst({ v: 2 })) },
  event_invalid: { health: 'corrupt_tail', make: folder => forge(folder, editFirst({ kind: 'never_heard_of' })) },
  event_not_canonical: {
    health: 'corrupt_tail',
    make: folder => forge(folder, lines => lines.with(0, (lines[0] ?? '').replace(':', ': '))),
  },
  event_out_of_order: {
    health: 'corrupt_tail',
    make: folder => forge(folder, lines => lines.with(0, lines[1] ?? '').with(1, lines[0] ?? '')),
  },
  event_session_mismatch: {
    health: 'corrupt_tail',
    make: folder =>
      forge(folder, lines => lines.with(0, (lines[0] ?? '').replaceAll(path.basename(folder.directory), OTHER))),
  },
  event_count_mismatch: { health: 'corrupt_tail', make: folder => forge(folder, lines => lines.slice(0, -1)) },
  dedupe_key_repeated: {
    health: 'corrupt_tail',
    make: folder =>
      forge(folder, lines => {
        const { dedupeKey, eventId, kind, scope, data } = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
        return lines.with(1, canonicalJson({ ...JSON.parse(lines[1] ?? ''), dedupeKey, eventId, kind, scope, data }));
      }),
  },
  pin_missing: {
    health: 'corrupt_head',
    make: folder =>
      editRecords(folder, records => {
        const at = records.findIndex(record => record.kind === 'snapshot_pinned');
        return records.toSpliced(at, 1).map((record, manifestIndex) => ({ ...record, manifestIndex }));
      }),
  },
  pin_unfounded: {
    health: 'corrupt_tail',
    make: folder => editLast(folder, 'snapshot_pinned', { snapshotRef: nodeHasher('something else') }),
  },
  snapshot_missing: {
    health: 'corrupt_tail',
    make: folder => renameSync(firstSnapshot(folder), `${firstSnapshot(folder)}.gone`),
  },
  snapshot_digest_mismatch: { health: 'corrupt_tail', make: folder => appendFileSync(firstSnapshot(folder), ' ') },
  head_mismatch: { health: 'healthy', make: () => {}, expectHead: () => nodeHasher('another history') },
  head_passed: { health: 'healthy', make: () => {}, expectHead: ({ first }) => first },
};
