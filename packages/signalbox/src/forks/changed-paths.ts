import { shown } from '../terminal.ts';

/** A path for people; the directory itself has a name too. */
export function shownPath(path: string): string {
  return path === '' ? '.' : shown(path);
}

/** The outcome for each path, one line each, relative to the directory in the first line. */
export function changedPaths({
  directory,
  paths,
  removed = [],
}: {
  readonly directory?: string | undefined;
  readonly paths: readonly string[];
  readonly removed?: readonly string[] | undefined;
}): readonly string[] {
  if (paths.length === 0) return [];
  return [
    ...(directory === undefined ? [] : [`  in ${shown(directory)}`]),
    ...paths.map(path => `  ${removed.includes(path) ? 'removed' : 'brought back'}: ${shownPath(path)}`),
  ];
}
