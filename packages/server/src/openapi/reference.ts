import { inputs, type Operation, operations } from '@signalbox/model';
import * as z from 'zod';

/** `docs/reference/api.md`: the table of operations for readers. */
export function apiReference(): string {
  return `${[
    '# The API',
    '<!-- Generated from packages/model/src/wire/operations.ts; edits are lost. -->',
    `Each row is an operation of the server; the client has a method of the same name. *Takes* lists the fields of the query of a \`GET\`, or of the JSON
body of any other method; fields with a question mark are optional. \`GET /api/openapi.json\` describes every shape. All errors have the same envelope.
[Access](access.md) says what each role may do.`,
    `Lists are paged: pass \`limit\`, and \`after\` with the \`next\` of the previous page (\`from\`, a number, for lists that grow at the end). An invalid cursor is
refused.`,
    [
      '| operation | route | role | takes | answers | |',
      '|---|---|---|---|---|---|',
      ...Object.entries<Operation>(operations).map(([name, { route, needs, input, key, answer = '', summary }]) => {
        const takes = [...(input === undefined ? [] : [fieldsOf(inputs[input])]), ...(key === undefined ? [] : [KEY])];
        return `| \`${name}\` | \`${route}\` | ${needs} | ${takes.join(' · ')} | ${answer} | ${summary} |`;
      }),
    ].join('\n'),
  ].join('\n\n')}\n`;
}

const KEY = 'header `Idempotency-Key?`';

function fieldsOf(schema: z.core.$ZodType): string {
  if (schema instanceof z.ZodUnion) return schema.options.map(fieldsOf).join(' or ');
  if (!(schema instanceof z.ZodObject)) return '';
  const names = Object.entries<z.ZodType>(schema.shape).map(([name, field]) =>
    field.isOptional() ? `${name}?` : name,
  );
  return names.length === 0 ? '' : `\`${names.join(' ')}\``;
}
