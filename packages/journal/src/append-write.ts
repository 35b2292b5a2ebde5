/**
 * The writes and syncs of one append, in the order that makes it durable:
 *
 * A1  The segment is on disk, under its name, before the manifest names it.
 * A2  The manifest grows by one write and one sync; the append is acknowledged only after that sync.
 * A3  The names that lead to the manifest are on disk before its first record is.
 */

import type { PreparedAppend } from './append-plan.ts';
import type { Disk, OpenFile } from './disk.ts';
import { placeFile } from './durable-file.ts';
import type { JournalEvent } from './event.ts';
import { MANIFEST } from './replay.ts';
import type { SegmentPacking } from './segment-packing.ts';

export interface JournalPlace {
  readonly home: string;
  readonly collection: string;
  readonly directory: string;
  readonly packing?: SegmentPacking | undefined;
}

/** `manifestBytes` is the end of the last complete append; later bytes are cut off. */
export function writeAppend<E extends JournalEvent>(
  disk: Disk,
  place: JournalPlace,
  manifestBytes: number,
  prepared: PreparedAppend<E>,
): void {
  const { directory } = place;
  if (manifestBytes === 0) disk.makeDirectory(`${directory}/events`);
  const manifestPath = `${directory}/${MANIFEST}`;
  const manifest = disk.open(manifestPath, 'append');
  try {
    if (manifestBytes === 0) makeNamesDurable(disk, place);
    if ((disk.size(manifestPath) ?? 0) > manifestBytes) cutTail(manifest, manifestBytes);
    writeSegment(disk, place, prepared);
    extendManifest(manifest, manifestBytes, prepared.manifest);
  } finally {
    manifest.close();
  }
}

function makeNamesDurable(disk: Disk, { home, collection, directory }: JournalPlace): void {
  disk.syncDirectory(directory);
  disk.syncDirectory(`${home}/${collection}`);
  disk.syncDirectory(home);
}

/** Synced separately: a cut that is lost after a later write would leave old bytes among new ones. */
function cutTail(manifest: OpenFile, manifestBytes: number): void {
  manifest.truncate(manifestBytes);
  manifest.sync();
}

function writeSegment<E extends JournalEvent>(
  disk: Disk,
  { directory, packing }: JournalPlace,
  prepared: PreparedAppend<E>,
): void {
  const events = `${directory}/events`;
  placeFile(
    disk,
    {
      path: `${directory}/${prepared.segmentPath}${packing?.suffix ?? ''}`,
      temporary: `${events}/.segment.tmp`,
    },
    packing?.pack(prepared.segment) ?? prepared.segment,
  );
  disk.syncDirectory(events);
}

function extendManifest(manifest: OpenFile, manifestBytes: number, bytes: Uint8Array): void {
  try {
    manifest.write(bytes);
    manifest.sync();
  } catch (cause) {
    // Part or all of it may be in the file. It is cut off, so that nobody reads an append that returned an error.
    cutTail(manifest, manifestBytes);
    throw cause;
  }
}
