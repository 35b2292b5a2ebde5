import { type JsonObject, jsonObject, thrownMessage, truncateUtf8, utf8Length } from '@signalbox/model';
import * as z from 'zod';
import { type AnyPlan, takesAnything } from './plan-definition.ts';

/** The facts about a plan without a run. */
export interface PlanOutline {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the input; absent if the plan takes anything. */
  readonly inputSchema?: JsonObject;
  /** Why the JSON Schema is missing, if it should be there. */
  readonly problem?: string;
}

/** Larger schemas make no usable form. */
const MAX_SCHEMA_BYTES = 256 * 1024;
const MAX_DESCRIPTION_BYTES = 4096;

/** Renders nothing. The schema describes the given input, before defaults and transforms. */
export function outlineOf(plan: AnyPlan): PlanOutline {
  const { name, description } = plan;
  const outline = {
    name,
    ...(description === undefined
      ? {}
      : { description: truncateUtf8(description.toWellFormed(), MAX_DESCRIPTION_BYTES) }),
  };
  if (takesAnything(plan)) return outline;
  try {
    const made = z.toJSONSchema(plan.input, { io: 'input', unrepresentable: 'any' });
    const text = JSON.stringify(made);
    const bytes = utf8Length(text);
    if (bytes > MAX_SCHEMA_BYTES) return { ...outline, problem: `its JSON Schema takes ${bytes} bytes` };
    return { ...outline, inputSchema: jsonObject.parse(JSON.parse(text)) };
  } catch (error) {
    return { ...outline, problem: thrownMessage(error) };
  }
}
