import { hash } from 'node:crypto';

/**
 * A key path names a place in the plan: one segment for every element on the way, components and fragments included. A segment is the key
 * (`$key`) or the position, and the element's name. An explicit id starts a new path, so its content keeps its identity wherever it moves.
 */
export const ROOT_PATH = 'root';

export function segmentOf(key: string | undefined, position: number, name: string): string {
  return `${placeOf(key, position)}:${escaped(name)}`;
}

/** The place of a list among its siblings, or of an item in its list. */
export function placeOf(key: string | undefined, position: number): string {
  return key === undefined ? String(position) : `$${escaped(key)}`;
}

export function pathOf(parent: string, segment: string): string {
  return `${parent}/${segment}`;
}

export function explicitPath(id: string): string {
  return `#${escaped(id)}`;
}

/** The stable id of a node without an explicit one: the first 16 hex digits of the SHA-256 of its key path. */
export function nodeIdOf(path: string): string {
  return hash('sha256', path, 'hex').slice(0, 16);
}

/** The id of the node that is the plan itself. */
export const ROOT_ID = nodeIdOf(ROOT_PATH);

function escaped(text: string): string {
  return encodeURIComponent(text);
}
