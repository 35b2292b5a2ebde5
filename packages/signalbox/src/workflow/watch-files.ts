import { type FSWatcher, readdirSync, watch } from 'node:fs';
import path from 'node:path';

interface Watched {
  readonly directory: string;
  /** Whether folders below it count. */
  readonly isDeep: boolean;
}

interface WatchOptions {
  /** What is printed: the same text twice in a row is printed once. */
  readonly look: () => Promise<string>;
  readonly print: (text: string) => void;
  readonly ending: AbortSignal;
}

/**
 * Looks now and again after every change in the directories, until the program is asked to end. Folders are watched, not files: editors
 * replace a file when they save it, and nothing would be heard of the new one.
 */
export async function watchFiles(watched: readonly Watched[], { look, print, ending }: WatchOptions): Promise<void> {
  let changed = Promise.withResolvers<void>();
  const wake = () => changed.resolve();
  const watchers = new Map<string, FSWatcher>();
  ending.addEventListener('abort', wake, { once: true });
  try {
    let last: string | undefined;
    while (!ending.aborted) {
      changed = Promise.withResolvers<void>();
      // Before the look, so that no change is missed.
      watchNow(watched.flatMap(foldersOf), watchers, wake);
      const text = await look();
      if (text !== last) print(text);
      last = text;
      if (ending.aborted) break;
      await changed.promise;
    }
  } finally {
    for (const watcher of watchers.values()) watcher.close();
  }
}

/** Watches exactly these folders from now on. One that comes or goes is a change of the folder around it. */
function watchNow(folders: readonly string[], watchers: Map<string, FSWatcher>, wake: () => void): void {
  for (const [folder, watcher] of watchers) {
    if (folders.includes(folder)) continue;
    watcher.close();
    watchers.delete(folder);
  }
  for (const folder of folders) {
    if (watchers.has(folder)) continue;
    try {
      const watcher = watch(folder, wake);
      watcher.on('error', wake);
      watchers.set(folder, watcher);
    } catch {
      // It is gone again, or the system watches no more: the others are still watched.
    }
  }
}

function foldersOf({ directory, isDeep }: Watched): readonly string[] {
  try {
    const below = isDeep ? readdirSync(directory, { recursive: true, withFileTypes: true }) : [];
    return [
      directory,
      ...below.filter(entry => entry.isDirectory()).map(({ parentPath, name }) => path.join(parentPath, name)),
    ];
  } catch {
    return [];
  }
}

/** What a check reads: the directory of a file, which may be a whole project's, and the places of workflows with all that is below. */
export function watchedFor(
  file: string | undefined,
  places: readonly { readonly directory: string }[],
): readonly Watched[] {
  const own = file === undefined ? [] : [{ directory: path.dirname(path.resolve(file)), isDeep: false }];
  return [...own, ...places.map(({ directory }) => ({ directory, isDeep: true }))];
}
