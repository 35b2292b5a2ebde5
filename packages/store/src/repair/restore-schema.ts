import { DatabaseSync } from 'node:sqlite';
import { migrate } from '../migrations/migrate.ts';

interface SchemaObject {
  readonly type: string;
  readonly name: string;
  readonly sql: string;
}

/** The only tables that are not derived from others, with their columns. */
const LOGS: ReadonlyMap<string, string> = new Map([
  ['records', 'place, seq, header, body, hash'],
  ['project_records', 'project, n, header, body, hash'],
]);
const ASIDE = '_before_repair';

export interface RestoredSchema {
  /** Objects that were missing or altered, and were made again. */
  readonly restored: readonly string[];
  /** Foreign objects that were dropped. */
  readonly removed: readonly string[];
}

/**
 * Restores the schema of the migrations and returns what was fixed. Foreign objects are dropped, and altered tables are recreated empty:
 * their rows follow from the log. A log with all its columns is kept. Throws SQLite's errors.
 */
export function restoreSchema(database: DatabaseSync): RestoredSchema {
  const wanted = schemaOfMigrations();
  const isWanted = ({ type, name, sql }: SchemaObject) =>
    wanted.some(one => one.type === type && one.name === name && one.sql === sql);
  const wrong = schemaOf(database).filter(found => !isWanted(found));
  const there = new Set(schemaOf(database).filter(isWanted).map(nameOf));
  const missing = wanted.filter(one => !there.has(nameOf(one)));
  if (wrong.length + missing.length === 0) return { restored: [], removed: [] };
  // No effect inside a transaction.
  database.exec('pragma foreign_keys = off');
  try {
    database.exec('begin immediate');
    const logs = wrong.filter(({ type, name }) => type === 'table' && LOGS.has(name)).map(({ name }) => name);
    // Objects that refer to a table are dropped before it.
    for (const type of ['trigger', 'view', 'index', 'table']) {
      for (const { name } of wrong.filter(found => found.type === type)) {
        if (type === 'table' && LOGS.has(name)) database.exec(`alter table ${name} rename to ${name}${ASIDE}`);
        else database.exec(`drop ${type} if exists "${name.replaceAll('"', '""')}"`);
      }
    }
    // Indexes are dropped with their tables.
    const left = new Set(schemaOf(database).map(nameOf));
    for (const object of wanted) if (!left.has(nameOf(object))) database.exec(object.sql);
    for (const log of logs) {
      const [columns, aside] = [LOGS.get(log), `${log}${ASIDE}`];
      database.exec(`insert into ${log} (${columns}) select ${columns} from ${aside}; drop table ${aside}`);
    }
    database.exec('commit');
  } finally {
    if (database.isTransaction) database.exec('rollback');
    database.exec('pragma foreign_keys = on');
  }
  const restored = missing.map(nameOf);
  return { restored, removed: wrong.map(nameOf).filter(name => !restored.includes(name)) };
}

function nameOf({ type, name }: SchemaObject): string {
  return `${type} ${name}`;
}

function schemaOfMigrations(): readonly SchemaObject[] {
  const memory = new DatabaseSync(':memory:');
  try {
    migrate(memory);
    return schemaOf(memory);
  } finally {
    memory.close();
  }
}

/** In creation order: tables before their indexes. */
function schemaOf(database: DatabaseSync): readonly SchemaObject[] {
  const rows = database.prepare(
    "select type, name, sql from sqlite_schema where name not like 'sqlite_%' order by rowid",
  );
  return rows.all().map(({ type, name, sql }) => ({ type: String(type), name: String(name), sql: String(sql) }));
}
