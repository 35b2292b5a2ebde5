import type { Json } from '@signalbox/model';
import { isObject } from './json-object.ts';

/** A file before and after; `before` is empty for a new file. */
export interface TextChange {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/** The changes that an agent shows with a tool call. Anything else is left out. */
export function textChanges(given: Json | undefined): readonly TextChange[] {
  if (!Array.isArray(given)) return [];
  return given.flatMap((diff: Json) => {
    if (!isObject(diff) || typeof diff.path !== 'string' || typeof diff.newText !== 'string') return [];
    return [{ path: diff.path, before: typeof diff.oldText === 'string' ? diff.oldText : '', after: diff.newText }];
  });
}

/** The places that a tool call names, each as `path` or `path:line`. */
export function locationsOf(given: Json | undefined): readonly string[] {
  if (!Array.isArray(given)) return [];
  return given.flatMap((place: Json) => {
    if (!isObject(place) || typeof place.path !== 'string') return [];
    return [typeof place.line === 'number' ? `${place.path}:${place.line}` : place.path];
  });
}

const kinds: Readonly<Record<string, string>> = {
  read: 'read',
  edit: 'edit',
  delete: 'delete',
  move: 'move',
  search: 'search',
  execute: 'command',
  think: 'think',
  fetch: 'fetch',
  switch_mode: 'change of mode',
  other: 'unknown kind',
};

/** The kind of an agent's tool, in words. */
export function toolKindWords(kind: string): string {
  return kinds[kind] ?? kind;
}
