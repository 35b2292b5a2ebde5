import { DatabaseSync } from 'node:sqlite';
import { chainHead, type Digest, EMPTY_HEAD, err, ok, type ProjectId, type Result } from '@signalbox/model';
import { type LogRecord, openProjectHeader, openProjectRecord, projectAfter } from '@signalbox/runs';
import { type NumberedProject, type ProjectRows, projectRows } from '../fleet/project-rows.ts';
import { migrate } from '../migrations/migrate.ts';
import { jsonColumns, StoreFault } from '../sqlite/json-column.ts';
import type { LogDefect } from './check-run.ts';
import type { ReplayPorts } from './replay-log.ts';
import { differences, type TableOfRuns } from './row-differences.ts';

/** A project, and whether all its rows follow from its log. */
export interface ProjectCheck {
  /** Undefined if neither its log nor a row says which project it is. */
  readonly project: ProjectId | undefined;
  readonly n: number;
  readonly records: number;
  readonly head: Digest;
  /** Every head that the log has had. */
  readonly heads: ReadonlySet<string>;
  /** Empty if the project is as committed. A broken log is not compared with the tables. */
  readonly defects: readonly LogDefect[];
}

/** Reports only the first defects; there may be more. */
const MAX_DEFECTS = 20;

/** The tables that follow from the logs of projects. The log itself is the first; states that were kept are no facts. */
export const tablesOfProjects: readonly TableOfRuns[] = [
  table('project_records', ['project', 'n'], ['project', 'n', 'header', 'body', 'hash'], 'project'),
  table('projects', ['n'], ['n', 'id', 'records', 'head', 'created_at', 'updated_at'], 'n'),
  table('things', ['project', 'kind', 'id'], ['project', 'kind', 'id', 'agent', 'status', 'record', 'part'], 'project'),
];

function table(name: string, key: readonly string[], columns: readonly string[], by: string): TableOfRuns {
  return { name, key, columns, byPlace: false, where: `${by} = ?`, parameters: n => [n] };
}

/** Every project that has a log, or rows without one. */
export function* checkProjects(ports: ReplayPorts): Generator<ProjectCheck> {
  for (const n of projectNumbers(ports.database)) yield checkProject(ports, n);
}

function projectNumbers(database: DatabaseSync): readonly number[] {
  const numbers = database.prepare(
    `select project as n from project_records union select n from projects union select project from things
     union select project from project_states order by n`,
  );
  // Somebody else may have written any number.
  numbers.setReadBigInts(true);
  return numbers.all().map(({ n }) => Number(n));
}

function checkProject(ports: ReplayPorts, n: number): ProjectCheck {
  const { database } = ports;
  const row = database.prepare('select id, cast(records as text) as records from projects where n = ?').get(n);
  const replay = replayProject(ports, n);
  try {
    const { records, head, heads, fault, blobs } = replay;
    const project = replay.project ?? (row && (String(row.id) as ProjectId));
    const facts = { project, n, records, head, heads };
    if (fault !== undefined) return { ...facts, defects: [{ where: 'log', ...fault }] };
    if (records === 0) {
      const what = project === undefined ? 'no log has these rows' : `project ${project} has no log`;
      return { ...facts, defects: [{ where: 'log', key: `project number ${n}`, what }] };
    }
    const defects: LogDefect[] = [];
    if (row !== undefined && Number(row.records) > records) {
      const what = `it is missing: the row of the project says that there are ${row.records} records`;
      defects.push({ where: 'log', record: records, what, isCutShort: true });
    }
    for (const compared of tablesOfProjects) {
      for (const { cells: _, ...difference } of differences(compared, n, replay.database, database)) {
        if (defects.length < MAX_DEFECTS) defects.push({ where: 'table', ...difference });
      }
    }
    for (const [name, record] of blobs) {
      const content = ports.blobs.get(name);
      if (!content.ok && defects.length < MAX_DEFECTS)
        defects.push({ where: 'blob', key: name, record, what: content.error.message });
    }
    return { ...facts, defects };
  } finally {
    replay.database.close();
  }
}

export interface ReplayedProject {
  /** In-memory tables, under the same number. The caller closes them. */
  readonly database: DatabaseSync;
  readonly project: ProjectId | undefined;
  readonly records: number;
  readonly head: Digest;
  readonly heads: ReadonlySet<string>;
  /** Blobs that the records name, each with the last record naming it. */
  readonly blobs: ReadonlyMap<Digest, number>;
  /** The first record that does not follow; later ones are not read. */
  readonly fault?: { readonly record: number; readonly what: string };
}

/** Replays the log with a number, by the code that wrote its rows. Writes nothing to the database. */
export function replayProject(ports: ReplayPorts, n: number): ReplayedProject {
  const database = new DatabaseSync(':memory:');
  migrate(database);
  const rows = projectRows(database, jsonColumns(ports.blobs), ports.hasher);
  const heads = new Set<string>([EMPTY_HEAD]);
  const blobs = new Map<Digest, number>();
  let found: NumberedProject | undefined;
  let fault: ReplayedProject['fault'];
  const stored = projectRows(ports.database, jsonColumns(ports.blobs), ports.hasher);
  for (const record of stored.records(n, 0)) {
    const at = found?.row.records ?? 0;
    const taken = takeProjectRecord(ports, rows, found, record, n);
    if (!taken.ok) {
      fault = { record: at, what: taken.error };
      break;
    }
    found = taken.value;
    heads.add(record.hash);
    const header = openProjectHeader(record.header);
    for (const name of (header.ok && header.value.blobs) || []) blobs.set(name, at);
  }
  const { id: project, records = 0, head = EMPTY_HEAD } = found?.row ?? {};
  return { database, project, records, head, heads, blobs, ...(fault && { fault }) };
}

/** Writes the next record of a log and what follows from it, from its bytes alone; or says why it does not follow. */
export function takeProjectRecord(
  { hasher, blobs }: Pick<ReplayPorts, 'hasher' | 'blobs'>,
  rows: ProjectRows,
  found: NumberedProject | undefined,
  record: LogRecord,
  n?: number,
): Result<NumberedProject, string> {
  const json = jsonColumns(blobs);
  let opened: ReturnType<typeof openProjectRecord>;
  try {
    opened = openProjectRecord(record, hasher, json.blobText);
  } catch (cause) {
    if (cause instanceof StoreFault) return err(cause.message);
    throw cause;
  }
  if (!opened.ok) return opened;
  const { header, body } = opened.value;
  const at = found?.row.records ?? 0;
  if (header.n !== at) return err(`record ${at} is missing`);
  if (found !== undefined && header.log !== found.row.id) return err('it is a record of another project');
  if (chainHead(hasher, found?.row.head ?? EMPTY_HEAD, record.header) !== record.hash)
    return err('its hash does not hold: it, or one before it, was changed');
  const row = projectAfter(found?.row, header.log, header.at, record.hash);
  return ok({ n: rows.append(found, row, record, body.things, n), row });
}
