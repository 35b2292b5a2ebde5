import { errorEnvelope, isJsonObject, type Json } from '@signalbox/model';
import * as z from 'zod';

export type JsonSchema = Readonly<Record<string, Json>>;

/** A tool's whole input schema, for the reference. */
export function inputJsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input' }) as JsonSchema;
}

/**
 * A tool's input schema for clients: names, types, choices and descriptions. Every model reads it in every chat, so limits and patterns
 * are left to the check itself, whose refusal names them.
 */
export function shownInputSchema(schema: z.ZodType): JsonSchema {
  return { ...terse(inputJsonSchema(schema), Number.POSITIVE_INFINITY), additionalProperties: false };
}

/**
 * A tool's whole answer schema for clients. The error envelope is one alternative, because some clients also validate the structured
 * content of a failure and would discard it.
 */
export function answerJsonSchema(schema: z.ZodType): JsonSchema {
  return { type: 'object', ...plainJsonSchema(z.union([schema, failedAnswer])) };
}

/**
 * A tool's answer schema for clients: what is at the top. Nothing is required, because some clients also validate the
 * structured content of a failure, which is the error envelope, and would discard it.
 */
export function shownAnswerSchema(schema: z.ZodType): JsonSchema {
  const { required: _, ...rest } = terse(plainJsonSchema(schema), 1);
  return { type: 'object', ...rest };
}

const KEPT = new Set(['type', 'enum', 'const', 'description', 'properties', 'required', 'items', 'anyOf', 'oneOf']);

/** A schema without what only a validator needs, cut below a depth. */
function terse(schema: JsonSchema, depth: number): JsonSchema {
  const isCut = depth <= 0;
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]): [string, Json][] => {
      if (!KEPT.has(key) || (isCut && key !== 'type' && key !== 'enum')) return [];
      // Alternatives below the cut are all objects or texts; which one is said by the answer itself.
      if ((key === 'anyOf' || key === 'oneOf') && depth <= 1) return [];
      return [[key, terseMember(key, value, depth)]];
    }),
  );
}

function terseMember(key: string, value: Json, depth: number): Json {
  if (key === 'properties' && isJsonObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => [name, terse(part as JsonSchema, depth - 1)]),
    );
  }
  if (key === 'items' && isJsonObject(value)) return terse(value as JsonSchema, depth);
  if (Array.isArray(value) && value.every(isJsonObject)) return value.map(part => terse(part as JsonSchema, depth));
  return value;
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
