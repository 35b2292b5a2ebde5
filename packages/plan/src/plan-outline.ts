import { type JsonObject, jsonObject, thrownMessage, truncateUtf8, utf8Length } from '@signalbox/model';
import * as z from 'zod';
import { type AnyPlan, takesAnything } from './plan-definition.ts';

/** What can be said of a plan without a run of it. */
export interface PlanOutline {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of what a start may give; absent where the plan takes anything. */
  readonly inputSchema?: JsonObject;
  /** Why there is no JSON Schema, where there should be one. */
  readonly problem?: string;
}

/** Larger ones are no form that a person fills in. */
const MAX_SCHEMA_BYTES = 256 * 1024;
const MAX_DESCRIPTION_BYTES = 4096;

/** Nothing is rendered. The schema is of what is given, before defaults are filled in and values are transformed. */
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
