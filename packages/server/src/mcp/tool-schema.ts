import { errorEnvelope, type Json } from '@signalbox/model';
import * as z from 'zod';

export type JsonSchema = Readonly<Record<string, Json>>;

/** What a tool takes, for a client. */
export function inputJsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input' }) as JsonSchema;
}

/**
 * What a tool answers, for a client. The error envelope is one of the alternatives, because some clients check the structured
 * content of a failure too and would throw away what it says.
 */
export function answerJsonSchema(schema: z.ZodType): JsonSchema {
  return { type: 'object', ...plainJsonSchema(z.union([schema, failedAnswer])) };
}

/** What is answered when nothing is said of failures. */
export function plainJsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'output' }) as JsonSchema;
}

/** The codes are many and the same everywhere; an agent acts on the rest. */
export const failedAnswer = errorEnvelope.extend({ code: z.string() });

/**
 * A schema that a client is shown and that lets everything through: what does not fit is told by us, with the error envelope.
 * It is made when it is first asked for, and once, not for every connection.
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
