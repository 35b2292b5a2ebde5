import type { JSONSchema7, LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { err, type Json, type JsonObject, json, ok, type Result, thrownMessage } from '@signalbox/model';
import type { TaskError } from '@signalbox/runs';
import * as z from 'zod';
import { taskFailure } from './task-failure.ts';

/**
 * How an agent gives its final answer:
 * - as text, if there is no schema;
 * - as the provider's structured output, if it has no tools;
 * - by calling our own tool, if it has: not every provider accepts a schema and tools together.
 */
export type AnswerForm =
  | { readonly kind: 'text' }
  | { readonly kind: 'format'; readonly schema: JSONSchema7; readonly check: AnswerCheck }
  | { readonly kind: 'tool'; readonly tool: LanguageModelV4FunctionTool; readonly check: AnswerCheck };

/** The output, or what is wrong with the answer, worded for the model. */
type AnswerCheck = (answer: Json) => Result<Json, string>;

const NAME = 'final_answer';
/** Marks a schema that was wrapped in an object, because providers only accept objects. */
const WRAPPED = 'Wrapped final answer';

export function answerFormOf(schema: JsonObject | undefined, tools: readonly string[]): Result<AnswerForm, TaskError> {
  if (schema === undefined) return ok({ kind: 'text' });
  let fits: z.ZodType;
  try {
    fits = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch (cause) {
    const reason = thrownMessage(cause);
    return err(
      taskFailure('schema-unsupported', `The schema of the output cannot be checked: ${reason}. Simplify it.`),
    );
  }
  const isObject = schema.type === 'object';
  const check: AnswerCheck = answer => {
    const value = isObject ? answer : unwrapped(answer);
    const checked = fits.safeParse(value);
    return checked.success ? ok(value) : err(z.prettifyError(checked.error));
  };
  const given = (isObject ? schema : wrapped(schema)) as JSONSchema7;
  if (tools.length === 0) return ok({ kind: 'format', schema: given, check });
  let name = NAME;
  while (tools.includes(name)) name += '_';
  return ok({
    kind: 'tool',
    check,
    tool: {
      type: 'function',
      name,
      description: 'Gives the final answer and ends the work. Call it once, alone, when everything else is done.',
      inputSchema: given,
    },
  });
}

/** The answer in a text, even if it is in a code fence. */
export function answerInText(text: string): Result<Json, string> {
  const fenced = /^\s*```(?:json)?\s*\n(.*)\n\s*```\s*$/s.exec(text)?.[1];
  try {
    const answer = json.safeParse(JSON.parse(fenced ?? text));
    return answer.success ? ok(answer.data) : err(`It is not plain data: ${answer.error.issues[0]?.message}`);
  } catch (cause) {
    return err(`It is not JSON: ${thrownMessage(cause)}`);
  }
}

/** Wraps an output as the request expects it. */
export function inAnswerForm(
  output: Json,
  options: Pick<LanguageModelV4CallOptions, 'tools' | 'responseFormat'>,
):
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly tool: string; readonly input: Json } {
  const tool = options.tools?.find(one => one.type === 'function' && one.name.startsWith(NAME));
  if (tool?.type === 'function') {
    const input = tool.inputSchema.title === WRAPPED ? { answer: output } : output;
    return { kind: 'call', tool: tool.name, input };
  }
  const isWrapped = options.responseFormat?.type === 'json' && options.responseFormat.schema?.title === WRAPPED;
  return { kind: 'text', text: JSON.stringify(isWrapped ? { answer: output } : output) };
}

/** Definitions stay at the root, where references look for them. */
function wrapped({ $defs, definitions, $schema: _, ...schema }: JsonObject): JsonObject {
  return {
    title: WRAPPED,
    type: 'object',
    properties: { answer: schema },
    required: ['answer'],
    additionalProperties: false,
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
  };
}

function unwrapped(answer: Json): Json {
  return typeof answer === 'object' && answer !== null && 'answer' in answer ? (answer.answer ?? null) : answer;
}
