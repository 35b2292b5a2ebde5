import { canonicalJson } from '@signalbox/model';

/**
 * The canonical text of an event. Objects whose members are in order have theirs from the platform at once, which writes
 * numbers and texts as RFC 8785 says; what cannot be put in order that way is left to `canonicalJson`.
 */
export function canonicalEvent(event: object): string {
  const ordered = inOrder(event, 0);
  return ordered === undefined ? canonicalJson(event) : JSON.stringify(ordered);
}

/** Deep values are seldom in events, and cost more to copy than to write. */
const MAX_DEPTH = 3;

/** A copy whose members were made in canonical order; undefined where there is none. */
function inOrder(value: object, depth: number): object | undefined {
  if (Object.getPrototypeOf(value) !== Object.prototype || depth > MAX_DEPTH) return undefined;
  const ordered: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) {
    // The platform puts members named by numbers first, and would set the prototype instead of a member.
    if (isPlaced(key)) return undefined;
    const member = (value as Record<string, unknown>)[key];
    if (typeof member === 'object' && member !== null) {
      const inside = Array.isArray(member) ? listInOrder(member) : inOrder(member, depth + 1);
      if (inside === undefined) return undefined;
      ordered[key] = inside;
    } else if (isWritten(member)) ordered[key] = member;
    else if (member !== undefined) return undefined;
  }
  return ordered;
}

function listInOrder(list: readonly unknown[]): readonly unknown[] | undefined {
  return list.every(isWritten) ? list : undefined;
}

/** What the platform writes as it is, and writes canonically. */
function isWritten(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  return typeof value === 'number' ? Number.isFinite(value) : typeof value === 'boolean' || value === null;
}

function isPlaced(key: string): boolean {
  const first = key.charCodeAt(0);
  return (first >= 48 && first <= 57) || key === '__proto__' || key === 'toJSON' || !key.isWellFormed();
}
