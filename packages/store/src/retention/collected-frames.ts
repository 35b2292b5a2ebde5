import type { DatabaseSync } from 'node:sqlite';
import { type FrameRange, isInRanges, type RunReader } from '@signalbox/runs';

/** A reader that shows nothing for a collected frame: the remaining rows around it are not what it showed. */
export function withoutCollected(reader: RunReader, database: DatabaseSync): RunReader {
  const ranges = database.prepare(`
    select details ->> '$.collected' as ranges from run_details
    where run = (select n from runs where id = ?) and typeof(details) = 'text'`);

  async function isCollected(run: Parameters<RunReader['run']>[0], frame: number): Promise<boolean> {
    const row = ranges.get(run);
    // Large details are in a blob.
    if (row === undefined) return isInRanges((await reader.run(run))?.collected ?? [], frame);
    return row.ranges !== null && isInRanges(JSON.parse(String(row.ranges)) as FrameRange[], frame);
  }

  return {
    ...reader,
    at: async (run, space, frame) => ((await isCollected(run, frame)) ? new Map() : reader.at(run, space, frame)),
    valueAt: async (run, space, key, frame) =>
      (await isCollected(run, frame)) ? undefined : reader.valueAt(run, space, key, frame),
  };
}
