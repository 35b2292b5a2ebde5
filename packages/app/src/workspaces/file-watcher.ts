import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Timers } from '@signalbox/plan';

/** How long it must be quiet before a change is reported. */
const DEBOUNCE_MS = 300;

/** Directories and name endings that are never watched: tools fill them and can rebuild them. */
const ignoredNames: ReadonlySet<string> = new Set(['node_modules', '.git', 'dist', '__pycache__']);
const ignoredEnds: readonly string[] = ['.pyc'];

/** Reports file changes, batched. */
export interface FileWatcher {
  /** Paths under a root, relative to it; a directory's own entries count as its change. */
  watch(root: string, paths: readonly string[], onChange: () => void): () => void;
}

export interface FileWatcherOptions {
  readonly timers: Timers;
  readonly debounceMs?: number;
  readonly watchDirectories?: WatchDirectories;
}

/** Watches existing directories, without those below them. `isWanted` selects the paths to report. */
export type WatchDirectories = (
  directories: readonly string[],
  isWanted: (place: string) => boolean,
  onEvent: () => void,
) => () => void;

export function createFileWatcher(options: FileWatcherOptions): FileWatcher {
  const { timers, debounceMs = DEBOUNCE_MS, watchDirectories = watchWithChokidar } = options;
  return {
    watch(root, paths, onChange) {
      const wanted = paths.filter(name => !isIgnored(name)).map(name => path.resolve(root, name));
      let watched = '';
      let stop: (() => void) | undefined;
      let cancel: (() => void) | undefined;

      /** Directories come and go: the watched set is determined again after every change. */
      const begin = () => {
        const directories = [...new Set(wanted.flatMap(place => directoriesOf(root, place)))].sort();
        if (directories.join('\n') === watched) return;
        watched = directories.join('\n');
        stop?.();
        stop = directories.length === 0 ? undefined : watchDirectories(directories, isWanted, onEvent);
      };
      const listed = new Set(wanted);
      const onTheWay = new Set(wanted.flatMap(place => waysTo(root, place)));
      const isWanted = (place: string) =>
        (onTheWay.has(place) || listed.has(path.dirname(place))) && !isIgnored(path.relative(root, place));
      const onEvent = () => {
        cancel?.();
        cancel = timers.after(debounceMs, () => {
          begin();
          onChange();
        });
      };
      begin();
      return () => {
        cancel?.();
        stop?.();
      };
    },
  };
}

export function isIgnored(relative: string): boolean {
  return (
    relative.split(path.sep).some(part => ignoredNames.has(part)) || ignoredEnds.some(end => relative.endsWith(end))
  );
}

/** The place itself if it is a directory, and its nearest existing parent directory. */
function directoriesOf(root: string, place: string): readonly string[] {
  let above = path.dirname(place);
  while (above.length > root.length && !existsSync(above)) above = path.dirname(above);
  const around = place === root ? [] : [above];
  return statSync(place, { throwIfNoEntry: false })?.isDirectory() === true ? [...around, place] : around;
}

/** The place and every directory between it and the root: any of them may appear first. */
function waysTo(root: string, place: string): readonly string[] {
  const ways: string[] = [];
  for (let at = place; at.length > root.length; at = path.dirname(at)) ways.push(at);
  return ways;
}

/** Its package is loaded when the first file is watched. */
const watchWithChokidar: WatchDirectories = (directories, isWanted, onEvent) => {
  const known = new Set(directories);
  let isClosed = false;
  const watcher = import('chokidar').then(({ watch }) => {
    if (isClosed) return undefined;
    const watching = watch([...directories], {
      depth: 0,
      ignoreInitial: true,
      followSymlinks: false,
      ignorePermissionErrors: true,
      ignored: place => !known.has(place) && !isWanted(place),
    });
    // Something may have changed between the first look and this moment.
    watching.on('ready', onEvent).on('all', onEvent).on('error', onEvent);
    return watching;
  });
  return () => {
    isClosed = true;
    void watcher.then(watching => watching?.close());
  };
};
