import { existsSync, type FSWatcher, watch } from 'node:fs';
import path from 'node:path';

interface Watched {
  readonly directory: string;
  readonly recursive: boolean;
}

interface WatchOptions {
  /** What is printed: the same text twice in a row is printed once. */
  readonly look: () => Promise<string>;
  readonly print: (text: string) => void;
  readonly ending: AbortSignal;
}

/** Looks now and again after every change in the directories, until the program is asked to end. */
export async function watchFiles(watched: readonly Watched[], { look, print, ending }: WatchOptions): Promise<void> {
  let changed = Promise.withResolvers<void>();
  const wake = () => changed.resolve();
  // Watched before the first look, so that no change is missed.
  const watchers: readonly FSWatcher[] = watched
    .filter(({ directory }) => existsSync(directory))
    .map(({ directory, recursive }) => watch(directory, { recursive }, wake));
  ending.addEventListener('abort', wake, { once: true });
  try {
    let last: string | undefined;
    while (!ending.aborted) {
      changed = Promise.withResolvers<void>();
      const text = await look();
      if (text !== last) print(text);
      last = text;
      if (ending.aborted) break;
      await changed.promise;
    }
  } finally {
    for (const watcher of watchers) watcher.close();
  }
}

/** What a check reads: the directory of a file, which may be a whole project's, and the places of workflows with all that is below. */
export function watchedFor(target: string, places: readonly { readonly directory: string }[]): readonly Watched[] {
  const own = existsSync(target) ? [{ directory: path.dirname(path.resolve(target)), recursive: false }] : [];
  return [...own, ...places.map(({ directory }) => ({ directory, recursive: true }))];
}
