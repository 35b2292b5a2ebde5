import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type AnyPlan, definePlan } from './plan-definition.ts';
import { outlineOf } from './plan-outline.ts';

const render = () => {
  throw new Error('nothing is rendered');
};

describe('the outline of a plan', () => {
  it('[P160] is its name, its purpose, and the JSON Schema of its input', () => {
    const plan = definePlan({
      name: 'release',
      description: 'Makes a release.',
      input: z.object({
        version: z.string().regex(/^\d+$/).describe('Its number'),
        dry: z.boolean().default(false),
        day: z.string().transform(text => new Date(text)),
        when: z.date().optional(),
      }),
      render,
    });
    expect(outlineOf(plan)).toEqual({
      name: 'release',
      description: 'Makes a release.',
      inputSchema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: {
          version: { type: 'string', pattern: '^\\d+$', description: 'Its number' },
          dry: { type: 'boolean', default: false },
          day: { type: 'string' },
          when: {},
        },
        required: ['version', 'day'],
      },
    });
  });

  it('[P160] has no schema if the plan takes anything', () => {
    expect(outlineOf(definePlan({ name: 'any', render }))).toEqual({ name: 'any' });
  });

  it('[P160] says why there is no schema', () => {
    const [circle, large] = [
      { toJSON: () => BigInt(1) },
      z.object(Object.fromEntries(Array.from({ length: 9_000 }, (_, field) => [`field-${field}`, z.string()]))),
    ];
    const odd = definePlan({ name: 'odd', input: z.object({ a: z.any().meta({ example: circle }) }), render });
    expect(outlineOf(odd)).toEqual({ name: 'odd', problem: expect.stringContaining('converting schema to JSON') });
    expect(outlineOf(definePlan({ name: 'large', input: large, render }))).toEqual({
      name: 'large',
      problem: expect.stringMatching(/^its JSON Schema takes \d+ bytes$/),
    });
  });

  it('[P160] bounds descriptions, and a plan refuses one that is not text', () => {
    const { description = '' } = outlineOf(definePlan({ name: 'long', description: 'é'.repeat(9_000), render }));
    expect(Buffer.byteLength(description)).toBeLessThanOrEqual(4_096);
    const written = { name: 'wrong', description: 7, render } as unknown as AnyPlan;
    expect(() => definePlan(written as never)).toThrow('the description of plan wrong must be a text');
  });
});
