import {
  factDraft,
  type LossyDisk,
  lossyDisk,
  memoryLocks,
  openFacts,
  snapshotText,
  TEST_SESSION,
} from '@signalbox/testkit';

export const HOME = 'home';
export const DIRECTORY = `${HOME}/sessions/${TEST_SESSION}`;
export const MANIFEST = `${DIRECTORY}/manifest.jsonl`;

/** Two appends, 5 events, 3 snapshots; the last append may end with a pin or without one. */
export async function smallJournal(lastBringsSnapshot = true): Promise<LossyDisk> {
  const disk = lossyDisk();
  disk.makeDirectory(HOME);
  const { journal, snapshots } = openFacts({ disk, locks: memoryLocks(), home: HOME });
  snapshots.putAll([1, 2, 4].map(snapshotText));
  await journal.withLock(witness => {
    journal.append(witness, { events: [factDraft(1, { withSnapshot: true }), factDraft(2, { withSnapshot: true })] });
    return journal.append(witness, {
      events: [factDraft(3), factDraft(4, { withSnapshot: lastBringsSnapshot }), factDraft(5, { text: 'ünï ∂ 🚦' })],
    });
  });
  return disk.copy();
}

/** Replaces a file's bytes, as an outsider would. */
export function replaceFile(disk: LossyDisk, path: string, bytes: Uint8Array): LossyDisk {
  const changed = disk.copy();
  const file = changed.open(path, 'create');
  file.write(bytes);
  file.close();
  return changed.copy();
}

export function bytesOf(disk: LossyDisk, path: string): Uint8Array {
  const bytes = disk.read(path);
  if (typeof bytes !== 'object') throw new Error(`${path} is ${bytes}`);
  return bytes;
}

export function linesOf(disk: LossyDisk, path: string): readonly string[] {
  return new TextDecoder().decode(bytesOf(disk, path)).split('\n').slice(0, -1);
}

export function withLines(disk: LossyDisk, path: string, lines: readonly string[]): LossyDisk {
  return replaceFile(disk, path, new TextEncoder().encode(lines.map(line => `${line}\n`).join('')));
}
