import type { JSONSchema7, LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { type Json, type JsonObject, ok, type Result } from '@signalbox/model';
import type { TaskError } from '@signalbox/runs';
import { type AnswerCheck, answerCheckOf } from '../attempt/answer-check.ts';

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

const NAME = 'final_answer';
/** Marks a schema that was wrapped in an object, because providers only accept objects. */
const WRAPPED = 'Wrapped final answer';

export function answerFormOf(schema: JsonObject | undefined, tools: readonly string[]): Result<AnswerForm, TaskError> {
  if (schema === undefined) return ok({ kind: 'text' });
  const checked = answerCheckOf(schema);
  if (!checked.ok) return checked;
  const check = checked.value;
  const given = (schema.type === 'object' ? schema : wrapped(schema)) as JSONSchema7;
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
