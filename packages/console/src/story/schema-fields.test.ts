import { describe, expect, it } from 'vitest';
import { fieldsOf } from './schema-fields.ts';

describe('the fields of a schema', () => {
  it('[K5] are one for each property, with its facts', () => {
    const fields = fieldsOf({
      type: 'object',
      required: ['a', 'b'],
      properties: {
        a: { type: 'string', description: 'a name' },
        b: { type: 'integer', default: 3 },
        c: { enum: ['x', 'y'] },
        d: { type: 'array' },
        e: true,
      },
    });
    expect(fields?.map(({ name, kind, isRequired }) => [name, kind, isRequired])).toEqual([
      ['a', 'text', true],
      ['b', 'number', false],
      ['c', 'choice', false],
      ['d', 'json', false],
      ['e', 'json', false],
    ]);
    expect(fields?.[0]?.about).toBe('a name');
  });

  it.each([[{ type: 'number' }], [{ type: 'object' }], [{ type: 'object', properties: {} }], [null], ['x']])(
    '[K5] are none where a form would not do: %j',
    schema => {
      expect(fieldsOf(schema)).toBeUndefined();
    },
  );
});
