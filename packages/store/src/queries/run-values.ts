import path from 'node:path';
import { hostDisk, nodeHasher } from '@signalbox/journal';
import { type Json, ok, type Result, type RunId } from '@signalbox/model';
import type { IntervalSpace } from '@signalbox/runs';
import { openBlobFiles } from '../blobs/blob-files.ts';
import { intervalRows } from '../runs/interval-rows.ts';
import { keyRows } from '../runs/key-rows.ts';
import { valueCache } from '../runs/value-cache.ts';
import { jsonColumns } from '../sqlite/json-column.ts';
import { openReadConnection, type ReadError } from '../sqlite/read-connection.ts';

/** The values that a run has after its last commit, all of one moment. */
export interface RunValues {
  readonly frames: number;
  readonly version: number;
  readonly nextSeq: number;
  readonly spaces: ReadonlyMap<IntervalSpace, ReadonlyMap<string, Json>>;
}

/**
 * Reads the values of a run beside the owner of the data directory, with as few statements as that takes. Undefined if there is no such run.
 * Throws `StoreDamage`.
 */
export function readRunValues(
  file: string,
  run: RunId,
  spaces: readonly IntervalSpace[],
): Result<RunValues | undefined, ReadError> {
  const connection = openReadConnection(file);
  if (!connection.ok) return connection;
  const database = connection.value;
  try {
    const blobs = openBlobFiles({ disk: hostDisk, hasher: nodeHasher, home: path.dirname(file), writer: 'nobody' });
    const intervals = intervalRows(database, keyRows(database), jsonColumns(blobs), valueCache());
    const ofRun = database.prepare('select n, frames, version, next_seq from runs where id = ?');
    database.exec('begin');
    const row = ofRun.get(run);
    if (row === undefined) return ok(undefined);
    const [n, frames] = [Number(row.n), Number(row.frames)];
    return ok({
      frames,
      version: Number(row.version),
      nextSeq: Number(row.next_seq),
      spaces: new Map(spaces.map(space => [space, intervals.at(n, space, frames)])),
    });
  } finally {
    database.close();
  }
}
