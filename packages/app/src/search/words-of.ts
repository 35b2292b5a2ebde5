import type { Json } from '@signalbox/model';

/** More of a value is not searched. */
const MOST = 12_000;

/** All texts, numbers and names in a value, as words to search. */
export function wordsOf(value: Json | undefined): string {
  const parts: string[] = [];
  let room = MOST;
  const visit = (part: Json): void => {
    if (room <= 0 || part === null || typeof part === 'boolean') return;
    if (typeof part !== 'object') {
      const text = String(part).slice(0, room);
      parts.push(text);
      room -= text.length + 1;
      return;
    }
    if (Array.isArray(part)) {
      for (const item of part) visit(item as Json);
      return;
    }
    for (const [name, member] of Object.entries(part)) {
      visit(name);
      visit(member as Json);
    }
  };
  if (value !== undefined) visit(value);
  return parts.join(' ');
}
