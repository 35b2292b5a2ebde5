import { err, json, jsonObject, ok, type Result, text, thrownMessage } from '@signalbox/model';
import * as z from 'zod';

const pattern = text.refine(isPattern, 'must be a regular expression');
const count = z.int().nonnegative();

/** When a rule applies. All given fields must hold. */
const condition = z.strictObject({
  /** 1 for the first answer in a conversation. */
  turn: z.int().positive().optional(),
  promptMatches: pattern.optional(),
  systemMatches: pattern.optional(),
  /** This tool has returned a result since the last answer. */
  toolResult: text.min(1).optional(),
  /** Everything since the last answer, including tool results. */
  lastMatches: pattern.optional(),
});

const rule = z.strictObject({
  when: condition.optional(),
  thinking: text.optional(),
  text: text.optional(),
  calls: z.array(z.strictObject({ tool: text.min(1), input: jsonObject.default({}) })).optional(),
  /** The final answer, if the agent has a schema. */
  output: json.optional(),
  usage: z.strictObject({ input: count.optional(), output: count.optional(), cached: count.optional() }).optional(),
});
export type ScriptRule = z.infer<typeof rule>;

/** The script of a model. The first matching rule answers; nothing is remembered between requests. */
const modelScript = z.strictObject({
  version: z.literal(1),
  rules: z
    .array(
      rule.refine(
        one => one.text !== undefined || one.calls !== undefined || one.output !== undefined,
        'a rule says something: give it text, calls or output',
      ),
    )
    .min(1),
});
export type ModelScript = z.infer<typeof modelScript>;

export function parseModelScript(source: string): Result<ModelScript, string> {
  let data: unknown;
  try {
    data = JSON.parse(source);
  } catch (cause) {
    return err(thrownMessage(cause));
  }
  const parsed = modelScript.safeParse(data);
  return parsed.success ? ok(parsed.data) : err(z.prettifyError(parsed.error));
}

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, 's') !== undefined;
  } catch {
    return false;
  }
}
