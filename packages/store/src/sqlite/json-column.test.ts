import { type Json, json } from '@signalbox/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonColumns, StoreDamage } from './json-column.ts';

const columns = jsonColumns({} as never);

describe('plain data in a column', () => {
  it('[D16] is read as it was written', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        const written = JSON.parse(JSON.stringify(value)) as Json;
        if (json.safeParse(written).success) expect(columns.readPlain(JSON.stringify(written), 'it')).toEqual(written);
      }),
    );
  });

  it.each([
    ['half a character', '"\\ud800"'],
    ['half a character in a key', '{"\\udfff": 1}'],
    ['a number without bound', '[1e999]'],
    ['a number of too many digits', '9'.repeat(400)],
    ['a depth without bound', `${'['.repeat(501)}${']'.repeat(501)}`],
    ['no JSON', '{'],
  ])('[D16] that holds %s is damage', (_, text) => {
    expect(() => columns.readPlain(text, 'it')).toThrow(StoreDamage);
  });
});
