import { err, type Json, type JsonObject, json, ok, type Result, thrownMessage } from '@signalbox/model';
import type { TaskError } from '@signalbox/runs';
import * as z from 'zod';
import { taskFailure } from './task-failure.ts';

/** The output, or what is wrong with the answer, worded for the model. */
export type AnswerCheck = (answer: Json) => Result<Json, string>;

/** How often a model may correct an invalid answer. */
export const MAX_CORRECTIONS = 3;

/** Checks answers against a schema. An answer to a schema of anything but an object may be wrapped in `answer`. */
export function answerCheckOf(schema: JsonObject): Result<AnswerCheck, TaskError> {
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
  return ok(answer => {
    const value = isObject ? answer : unwrapped(answer);
    const checked = fits.safeParse(value);
    return checked.success ? ok(value) : err(z.prettifyError(checked.error));
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

function unwrapped(answer: Json): Json {
  return typeof answer === 'object' && answer !== null && 'answer' in answer ? (answer.answer ?? null) : answer;
}
