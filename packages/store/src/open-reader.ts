import path from 'node:path';
import { hostDisk, nodeHasher } from '@signalbox/journal';
import { ok, type Result } from '@signalbox/model';
import type { Blobs, ProjectReader, RunReader } from '@signalbox/runs';
import { openBlobFiles } from './blobs/blob-files.ts';
import { projectReader } from './fleet/project-log.ts';
import { projectRows } from './fleet/project-rows.ts';
import { withoutCollected } from './retention/collected-frames.ts';
import { preparedTables } from './runs/prepared-tables.ts';
import { runReader } from './runs/run-reader.ts';
import { jsonColumns } from './sqlite/json-column.ts';
import { openReadConnection, type ReadError } from './sqlite/read-connection.ts';

/** Read-only access to runs and projects. */
export type Reader = RunReader & ProjectReader & Pick<Blobs, 'get'> & { close(): void };

/**
 * Reads a data directory beside its owner, whether the owner is writing, was killed or never existed. Each answer reflects what is
 * committed at the time of the call; nothing is written or migrated.
 */
export function openReader({ path: file }: { readonly path: string }): Result<Reader, ReadError> {
  const connection = openReadConnection(file);
  if (!connection.ok) return connection;
  const database = connection.value;
  const blobs = openBlobFiles({ disk: hostDisk, hasher: nodeHasher, home: path.dirname(file), writer: 'nobody' });
  const json = jsonColumns(blobs);
  const tables = preparedTables(database, json);
  if (!tables.ok) return tables;
  return ok({
    ...withoutCollected(runReader(database, tables.value), database),
    ...projectReader(projectRows(database, json, nodeHasher)),
    get: async name => blobs.get(name),
    close: () => database.close(),
  });
}
