import { existsSync, lstatSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  type Clock,
  digest,
  type ErrorEnvelope,
  err,
  failure,
  ok,
  projectId,
  type Result,
  runId,
  timestamp,
  timestampOf,
} from '@signalbox/model';
import { copyDatabase, openArchive } from '@signalbox/store';
import * as z from 'zod';
import { usageError } from '../command-error.ts';
import { makePrivateDirectory } from '../private-directory.ts';
import { lostDatabase } from '../repair/lost-database.ts';
import { verifyDirectory } from '../verify-directory.ts';
import { copyTree, sync } from './copy-tree.ts';

const CONTENTS = 'backup.json';

/** The heads in a backup, for comparison on restore. */
const backupContents = z.strictObject({
  v: z.literal(1),
  at: timestamp,
  runs: z.array(z.strictObject({ run: runId, records: z.int().nonnegative(), head: digest })).readonly(),
  /** Absent in backups from before projects had a log. */
  projects: z
    .array(z.strictObject({ project: projectId, records: z.int().nonnegative(), head: digest }))
    .readonly()
    .optional(),
  sessions: z.array(z.strictObject({ session: z.string(), events: z.int().nonnegative(), head: digest })).readonly(),
});
type BackupContents = z.infer<typeof backupContents>;

export interface BackupReport {
  /** Everything in the copy matches its logs and journals. */
  readonly ok: boolean;
  readonly directory: string;
  readonly at: string;
  readonly runs: number;
  readonly sessions: number;
  readonly files: number;
  readonly bytes: number;
  /** Defects of the copy: they existed before, or appeared meanwhile. */
  readonly defects: readonly string[];
}

/** Copies a data directory into an empty one, while its owner runs, and checks the copy. */
export function backupHome(dataDirectory: string, target: string, clock: Clock): Result<BackupReport, ErrorEnvelope> {
  if (isInside(target, dataDirectory)) {
    return err(usageError(`${target} is in the data directory.`, 'Choose a directory outside of it.'));
  }
  if (!['db.sqlite', 'sessions'].some(name => existsSync(path.join(dataDirectory, name)))) {
    return err(lostDatabase(path.join(dataDirectory, 'db.sqlite')) ?? nothingThere(dataDirectory));
  }
  return copied(dataDirectory, target, (contents, report) => {
    const at = timestampOf(clock);
    writeFileSync(path.join(target, CONTENTS), `${JSON.stringify({ ...contents, at })}\n`, { mode: 0o600 });
    sync(path.join(target, CONTENTS));
    sync(target);
    return ok({ ...report, at });
  });
}

/** Copies a backup into an empty data directory, and compares the heads of every log and journal. */
export function restoreHome(backup: string, dataDirectory: string): Result<BackupReport, ErrorEnvelope> {
  const said = contentsOf(backup);
  if (!said.ok) return said;
  return copied(backup, dataDirectory, ({ runs, projects = [], sessions }, report, leftOut) => {
    const found = new Map<string, string>([
      ...projects.map(({ project, head }) => [project, head] as const),
      ...runs.map(({ run, head }) => [run, head] as const),
      ...sessions.map(({ session, head }) => [session, head] as const),
    ]);
    const wanted = [
      ...(said.value.projects ?? []).map(({ project, head }) => [`project ${project}`, project, head] as const),
      ...said.value.runs.map(({ run, head }) => [`run ${run}`, run, head] as const),
      ...said.value.sessions.map(({ session, head }) => [`session ${session}`, session, head] as const),
    ];
    const different = wanted
      .filter(([, id, head]) => found.get(id) !== head)
      .map(([name, id]) => `${name} ${found.has(id) ? 'has another head than when it was backed up' : 'is missing'}`);
    const strange = leftOut
      .toSorted()
      .map(place => path.relative(backup, place))
      // The programs of a layer, and their working files, are not part of the directory.
      .filter(place => !place.startsWith(`layers${path.sep}`))
      .map(place => `${place} is a link, a device or a pipe, and was left out`);
    const defects = [...report.defects, ...different, ...strange];
    return ok({ ...report, ok: defects.length === 0, at: said.value.at, defects });
  });
}

function copied(...given: Parameters<typeof copyAll>): Result<BackupReport, ErrorEnvelope> {
  try {
    return copyAll(...given);
  } catch (cause) {
    if (!(cause instanceof Error && 'syscall' in cause)) throw cause;
    return err(notCopied(given[1], cause));
  }
}

function copyAll(
  from: string,
  to: string,
  finish: (
    contents: BackupContents,
    report: BackupReport,
    leftOut: readonly string[],
  ) => Result<BackupReport, ErrorEnvelope>,
): Result<BackupReport, ErrorEnvelope> {
  if (existsSync(to) && (!statSync(to).isDirectory() || readdirSync(to).length > 0)) return err(notEmpty(to));
  makePrivateDirectory(to);
  const database = copyDatabase({ from: path.join(from, 'db.sqlite'), to: path.join(to, 'db.sqlite') });
  if (!database.ok && database.error.code !== 'store/missing') return database;
  const { files, bytes, leftOut } = copyTree(from, to);
  const { contents, defects } = checked(to);
  const size = database.ok ? statSync(path.join(to, 'db.sqlite')).size : 0;
  const { at, runs, sessions } = contents;
  const counts = {
    at,
    runs: runs.length,
    sessions: sessions.length,
    files: files + (database.ok ? 1 : 0),
    bytes: bytes + size,
  };
  return finish(contents, { ok: defects.length === 0, directory: to, ...counts, defects }, leftOut);
}

/** The contents of a copy, and its defects. */
function checked(directory: string): { readonly contents: BackupContents; readonly defects: readonly string[] } {
  const runs: BackupContents['runs'][number][] = [];
  const projects: NonNullable<BackupContents['projects']>[number][] = [];
  const defects: string[] = [];
  const archive = openArchive({ path: path.join(directory, 'db.sqlite') });
  if (archive.ok) {
    for (const check of archive.value.checkAll()) {
      runs.push({ run: check.run, records: check.records, head: check.head });
      const [first] = check.defects;
      if (first !== undefined) defects.push(`run ${check.run}: ${first.what}`);
    }
    for (const { project, n, records, head, defects: found } of archive.value.checkProjects()) {
      if (project !== undefined) projects.push({ project, records, head });
      const [first] = found;
      if (first !== undefined) defects.push(`project ${project ?? `number ${n}`}: ${first.what}`);
    }
    archive.value.close();
  } else {
    const lost = lostDatabase(path.join(directory, 'db.sqlite'));
    const fault = archive.error.code === 'store/missing' ? lost : archive.error;
    if (fault !== undefined) defects.push(fault.message);
  }
  const sessions: BackupContents['sessions'][number][] = [];
  const root = path.join(directory, 'sessions');
  for (const session of existsSync(root) ? readdirSync(root) : []) {
    if (!existsSync(path.join(root, session, 'manifest.jsonl'))) continue;
    const verified = verifyDirectory(path.join(root, session));
    if (verified.ok) sessions.push({ session, events: verified.value.events, head: verified.value.head });
    const wrong = verified.ok ? (verified.value.ok ? undefined : verified.value.health) : verified.error.message;
    if (wrong !== undefined) defects.push(`session ${session}: ${wrong}`);
  }
  const at = '1970-01-01T00:00:00.000Z' as BackupContents['at'];
  return { contents: { v: 1, at, runs, ...(projects.length > 0 && { projects }), sessions }, defects };
}

/** More than any list of heads takes. */
const CONTENTS_MAX_BYTES = 256 * 1024 * 1024;

function contentsOf(backup: string): Result<BackupContents, ErrorEnvelope<'command/usage'>> {
  const notFile = [CONTENTS, 'db.sqlite'].find(name => {
    const entry = lstatSync(path.join(backup, name), { throwIfNoEntry: false });
    return entry !== undefined && !entry.isFile();
  });
  // Opening a pipe waits for its other end, and a device has no end.
  if (notFile !== undefined) {
    return err(
      usageError(
        `${backup} is not a backup: ${notFile} is not a file.`,
        'Give the directory that "signalbox backup" wrote.',
      ),
    );
  }
  try {
    if (statSync(path.join(backup, CONTENTS)).size > CONTENTS_MAX_BYTES) throw new Error('too large');
    return ok(backupContents.parse(JSON.parse(readFileSync(path.join(backup, CONTENTS), 'utf8'))));
  } catch {
    return err(
      usageError(
        `${backup} is not a backup: it has no readable ${CONTENTS}.`,
        'Give the directory that "signalbox backup" wrote.',
      ),
    );
  }
}

function isInside(place: string, directory: string): boolean {
  const relative = path.relative(path.resolve(directory), path.resolve(place));
  return relative === '' || !(relative.startsWith('..') || path.isAbsolute(relative));
}

function notEmpty(directory: string): ErrorEnvelope<'store/unusable'> {
  return failure('store/unusable', {
    message: `${directory} is not an empty directory.`,
    suggestion: 'Choose a directory that is empty or does not exist. Nothing was written.',
  });
}

function nothingThere(directory: string): ErrorEnvelope<'store/missing'> {
  return failure('store/missing', {
    message: `There is nothing to back up: ${directory} has neither runs nor sessions.`,
    suggestion: 'Choose another data directory with --data-dir DIRECTORY.',
  });
}

function notCopied(directory: string, { message }: Error): ErrorEnvelope<'STORE_IO_FAILED'> {
  return failure('STORE_IO_FAILED', {
    message: `The copy in ${directory} is incomplete: ${message}.`,
    suggestion: 'Check that it is writable and has room, remove the directory, and try again.',
    retry: { kind: 'retryable_immediate' },
  });
}
