import type { Json } from '@signalbox/model';

/** Facts that only loops provide. */
const ofLoops: ReadonlySet<string> = new Set(['currentIteration', 'currentItem', 'currentIndex']);

/** The facts that a workflow's texts refer to, as in `{{ticket.id}}`, each once, in the order of its source. */
export function contextKeys(source: Json): readonly string[] {
  const names = [...JSON.stringify(source).matchAll(/\{\{\s*([A-Za-z_]\w*)[\w.]*\s*\}\}/g)].map(
    ([, name = '']) => name,
  );
  return [...new Set(names)].filter(name => !ofLoops.has(name));
}
