import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import path from 'node:path';

/** What a plan is made of. Other files may be written by its runs, which must not cause the next one. */
const SOURCE = /\.[cm]?[jt]sx?$|[\\/]rehearsal\.json$/;
/** A folder with more below it is no folder of plans. */
const MOST_FOLDERS = 200;
/** An editor saves in several steps. */
const SETTLE_MS = 50;

/**
 * Calls back soon after a source in a folder, or in a folder below it, has changed. Folders are watched, not files: editors replace a file
 * when they save it. Installed packages and hidden folders do not count.
 */
export function watchSources(root: string, changed: () => void): () => void {
  const watchers = new Map<string, FSWatcher>();
  let last = marksOf(foldersBelow(root));
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    const folders = foldersBelow(root);
    watchNow(folders);
    const marks = marksOf(folders);
    if (marks === last) return;
    last = marks;
    changed();
  };
  const wake = () => {
    clearTimeout(timer);
    timer = setTimeout(look, SETTLE_MS);
  };

  function watchNow(folders: readonly string[]): void {
    for (const [folder, watcher] of watchers) {
      if (folders.includes(folder)) continue;
      watcher.close();
      watchers.delete(folder);
    }
    for (const folder of folders) {
      if (watchers.has(folder)) continue;
      try {
        watchers.set(folder, watch(folder, wake).on('error', wake));
      } catch {
        // It is gone again, or the system watches no more: the others are still watched.
      }
    }
  }

  watchNow(foldersBelow(root));
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers.values()) watcher.close();
  };
}

function foldersBelow(root: string): readonly string[] {
  const folders = [root];
  for (const folder of folders) {
    if (folders.length > MOST_FOLDERS) break;
    for (const entry of entriesOf(folder))
      if (entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.'))
        folders.push(path.join(folder, entry.name));
  }
  return folders;
}

/** When which source was changed. */
function marksOf(folders: readonly string[]): string {
  return folders
    .flatMap(folder => entriesOf(folder).map(({ name }) => path.join(folder, name)))
    .filter(file => SOURCE.test(file))
    .map(file => `${file} ${statSync(file, { throwIfNoEntry: false })?.mtimeMs}`)
    .join('\n');
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
