import { cutAtWord, type Json } from '@signalbox/model';
import * as z from 'zod';

/** The longest retelling. The oldest parts are left out. */
const MAX_RETOLD = 60_000;
const MAX_PART = 2_000;

const part = z.union([
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('tool-call'), toolName: z.string(), input: z.json() }),
]);
const entry = z.discriminatedUnion('kind', [
  z.looseObject({ kind: z.literal('begun'), opened: z.string().optional() }),
  z.looseObject({ kind: z.literal('prompted'), text: z.string(), isFull: z.boolean().optional() }),
  z.looseObject({ kind: z.literal('assistant'), content: z.array(z.unknown()) }),
  z.looseObject({ kind: z.literal('tool_ended'), tool: z.string(), status: z.string(), output: z.json() }),
]);

/** A turn that was cut off, told to an agent that does not remember it. Empty if nothing happened in it. */
export function retold(entries: readonly Json[]): string {
  const parts = entries.flatMap(one => {
    const read = entry.safeParse(one);
    return read.success ? partsOf(read.data) : [];
  });
  const shown: string[] = [];
  let size = 0;
  for (const words of parts.toReversed()) {
    size += words.length;
    if (size > MAX_RETOLD) {
      shown.push('(Earlier parts are left out.)');
      break;
    }
    shown.push(words);
  }
  return shown.toReversed().join('\n');
}

function partsOf(read: z.infer<typeof entry>): readonly string[] {
  switch (read.kind) {
    case 'begun':
      return [];
    case 'prompted':
      return read.isFull === false ? [`You were told: ${cutAtWord(read.text, MAX_PART)}`] : [];
    case 'assistant':
      return read.content.flatMap(one => {
        const { data } = part.safeParse(one);
        if (data === undefined) return [];
        return data.type === 'text'
          ? [`You said: ${cutAtWord(data.text, MAX_PART)}`]
          : [`You called ${data.toolName} with ${cutAtWord(JSON.stringify(data.input), MAX_PART)}`];
      });
    case 'tool_ended': {
      const { value } = read.output as { readonly value?: Json };
      const said = typeof value === 'string' ? value : JSON.stringify(value ?? null);
      return [`The call of ${read.tool} ${read.status}: ${cutAtWord(said, MAX_PART)}`];
    }
  }
}
