import { isJsonObject, type Json, type JsonObject } from '@signalbox/model';

/** The text of a model's answer, without its calls; '' if there is none. */
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

/** Why a tool call failed, if it says so: in its output, or as text. */
export function errorOfCall(payload: Json | undefined): string | undefined {
  const { output } = fieldsOf(payload);
  return fieldsOf(output).type === 'error-text' ? textIn(output, 'value') : textIn(payload, 'message');
}

/** The text of a partial message. */
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
