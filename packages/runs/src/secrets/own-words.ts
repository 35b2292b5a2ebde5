import * as z from 'zod';
import { writeSet } from '../commit.ts';
import { shortEvent } from '../events/kept-event.ts';
import { eventDraft } from '../events/stored-event.ts';

/** Member names and closed-set words in commits: a secret that is part of one cannot be redacted. */
export function ownWords(): ReadonlySet<string> {
  const words = new Set<string>();
  const collect = (schema: unknown, keyword?: string): void => {
    if (typeof schema === 'string') {
      if (keyword === 'const' || keyword === 'enum') words.add(schema);
    } else if (Array.isArray(schema)) {
      for (const part of schema) collect(part, keyword);
    } else if (typeof schema === 'object' && schema !== null) {
      for (const [name, part] of Object.entries(schema)) {
        if (name === 'properties') for (const member of Object.keys(part as object)) words.add(member);
        collect(part, name);
      }
    }
  };
  for (const schema of [writeSet, shortEvent, eventDraft]) {
    collect(z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' }));
  }
  return words;
}
