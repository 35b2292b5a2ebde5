import { errorEnvelope, type Json } from '@signalbox/model';
import * as z from 'zod';

export type JsonSchema = Readonly<Record<string, Json>>;

/** A tool's input schema for clients. */
export function inputJsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input' }) as JsonSchema;
}

/**
 * A tool's answer schema for clients. The error envelope is one alternative, because some clients also validate the structured content of a
 * failure and would discard it.
 */
export function answerJsonSchema(schema: z.ZodType): JsonSchema {
  return { type: 'object', ...plainJsonSchema(z.union([schema, failedAnswer])) };
}

/** A tool's answer schema without failures. */
export function plainJsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'output' }) as JsonSchema;
}

/** Codes are many and the same everywhere; agents act on the other fields. */
export const failedAnswer = errorEnvelope.extend({ code: z.string() });

/**
 * A schema that clients see but that accepts everything: we report invalid input ourselves, with the error envelope. Built once, on first
 * use.
 */
export function shownSchema(make: () => JsonSchema) {
  let made: JsonSchema | undefined;
  const shown = () => {
    made ??= make();
    return { ...made };
  };
  return {
    '~standard': {
      version: 1 as const,
      vendor: 'signalbox',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: shown, output: shown },
    },
  };
}
