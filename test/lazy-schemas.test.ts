import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { lazySchema } from '../scripts/lazy-schema.ts';
import { withLazySchemas } from '../scripts/lazy-schemas.ts';

describe('a lazy schema', () => {
  it('is made once, when something is first asked of it, and is a schema from then on', () => {
    let made = 0;
    const word = lazySchema(() => {
      made += 1;
      return z.string().min(2);
    });
    const both = lazySchema(() => z.strictObject({ word, other: word.optional() }));
    expect(made).toBe(0);
    expect(both.parse({ word: 'ab' })).toEqual({ word: 'ab' });
    expect(both.safeParse({ word: 'a' }).success).toBe(false);
    expect([both instanceof z.ZodObject, 'shape' in both, both.shape.word === word]).toEqual([true, true, true]);
    expect(Object.getPrototypeOf(word)).toBe(Object.getPrototypeOf(z.string()));
    expect(made).toBe(1);
  });

  it('has the description of what was made, and the same JSON schema', () => {
    const make = () => z.object({ id: z.string().describe('an id') }).describe('a thing');
    expect(z.toJSONSchema(lazySchema(make))).toEqual(z.toJSONSchema(make()));
    expect(lazySchema(make).description).toBe('a thing');
    const makers = [
      () => z.string().optional(),
      () => z.number().int().min(1).default(3).describe('a count'),
      () => z.array(z.string().nullable()).readonly(),
      () => z.record(z.string(), z.union([z.literal('a'), z.enum(['b', 'c'])])),
      () =>
        z.discriminatedUnion('kind', [
          z.strictObject({ kind: z.literal('a') }),
          z.strictObject({ kind: z.literal('b') }),
        ]),
      () =>
        z
          .strictObject({ a: z.string(), b: z.number() })
          .omit({ a: true })
          .extend({ c: z.string().regex(/x/) }),
      () => z.string().transform(Number).pipe(z.number()).catch(1),
      () => z.tuple([z.string().brand('word')]).rest(z.boolean()),
      () =>
        z
          .object({ a: z.string() })
          .refine(({ a }) => a !== '')
          .meta({ title: 'refined' }),
    ];
    const both = (make: () => z.ZodType) =>
      [make(), lazySchema(make)].map(schema => z.toJSONSchema(z.object({ schema }), { io: 'input' }));
    for (const make of makers) {
      const [eager, lazy] = both(make);
      expect(lazy).toEqual(eager);
    }
  });

  it('may contain itself', () => {
    interface Tree {
      readonly children: readonly Tree[];
    }
    const tree: z.ZodType<Tree> = lazySchema(() => z.object({ children: z.array(z.lazy(() => tree)) }));
    expect(tree.parse({ children: [{ children: [] }] })).toEqual({ children: [{ children: [] }] });
    expect(tree.safeParse({ children: [{}] }).success).toBe(false);
  });
});

describe('withLazySchemas', () => {
  const changed = (lines: readonly string[]) =>
    withLazySchemas(["import * as z from 'zod';", ...lines].join('\n'), 'helper')
      .split('\n')
      .slice(1);

  it('defers schemas at the top of a module, and leaves lines where they are', () => {
    const lazily = (text: string) => `/* @__PURE__ */ lazySchema(() => ${text})`;
    expect(
      changed([
        'export const a = z.object({',
        '  b: z.string(),',
        '}).strict();',
        'const c: z.ZodType<D> = z.lazy(() => a) as z.ZodType<D>;',
        'const e = a.extend({}), f = 1;',
      ]),
    ).toEqual([
      'export const a = /* @__PURE__ */ lazySchema(() => z.object({',
      '  b: z.string(),',
      '}).strict());',
      `const c: z.ZodType<D> = ${lazily('z.lazy(() => a) as z.ZodType<D>')};`,
      `const e = ${lazily('a.extend({})')}, f = 1;`,
    ]);
  });

  it('leaves alone what is no schema, is inside a function, or may be assigned again', () => {
    const lines = [
      'const shape = z.object({}).shape;',
      'const made = z.object({}).parse({});',
      'const json = z.toJSONSchema(z.string());',
      'const other = list.map(one => z.literal(one));',
      'let later = z.string();',
      'function make() { const inside = z.string(); return inside; }',
      'const { a } = z.object({}).shape;',
    ];
    expect(changed(lines)).toEqual(lines);
  });

  it('leaves a module alone that does not use zod', () => {
    expect(withLazySchemas('const a = z.object({});', 'helper')).toBe('const a = z.object({});');
  });
});
