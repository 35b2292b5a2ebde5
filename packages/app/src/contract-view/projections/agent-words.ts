import { isJsonObject, type Json, type JsonObject } from '@signalbox/model';

/** What a model said in an answer, without its calls; '' where there is none. */
export function textOfAnswer(payload: Json | undefined): string {
  const { content } = fieldsOf(payload);
  if (!Array.isArray(content)) return '';
  return content
    .flatMap((part: Json) => (fieldsOf(part).type === 'text' ? [textIn(part, 'text') ?? ''] : []))
    .join('\n\n');
}

/** The arguments of a tool call. */
export function inputOfCall(payload: Json | undefined): JsonObject {
  const { input } = fieldsOf(payload);
  return isJsonObject(input) ? input : { input: input ?? null };
}

/** Why a tool call did not succeed, if it says so: in its output, or in words of its own. */
export function errorOfCall(payload: Json | undefined): string | undefined {
  const { output } = fieldsOf(payload);
  return fieldsOf(output).type === 'error-text' ? textIn(output, 'value') : textIn(payload, 'message');
}

/** The text of a part of what is being said. */
export function wordsOfDelta(payload: Json): string {
  return typeof payload === 'string' ? payload : (textIn(payload, 'text') ?? '');
}

function fieldsOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function textIn(value: Json | undefined, field: string): string | undefined {
  const text = fieldsOf(value)[field];
  return typeof text === 'string' ? text : undefined;
}
