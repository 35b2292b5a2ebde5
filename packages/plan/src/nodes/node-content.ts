import type { Json, JsonObject } from '@signalbox/model';
import * as z from 'zod';
import type { PlanElement, Slot } from '../jsx/element.ts';
import { PlanError } from '../plan-error.ts';
import { type HandlerName, handlerNames } from './handlers.ts';
import { isAgentKind, isRunnableKind, type NodeKind } from './node-kind.ts';

export const DEFAULT_RETRIES = 3;
export const DEFAULT_MAX_TURNS = 50;
export const DEFAULT_MAX_ITERATIONS = 100;

/** What an element says of its node: plain data to keep, and code that only this process has. */
export interface NodeContent {
  readonly data: JsonObject;
  readonly code?: Readonly<Record<string, unknown>>;
}

/** Of the kinds whose children are nodes; If, Switch, Each and loops add what only a render knows. */
export function nodeContent(kind: NodeKind, element: PlanElement): NodeContent {
  const { id: _id, ...props } = element.props;
  if (isAgentKind(kind)) {
    const { work, code } = divided(props);
    return {
      code: withSchema(code, props.schema),
      data: present({
        ...work,
        prompt: promptOf(element),
        schema: schemaOf(props.schema, element),
        maxTurns: props.maxTurns ?? DEFAULT_MAX_TURNS,
        resume: props.resume ?? 'continue',
        permissions: props.permissions ?? 'skip',
      }),
    };
  }
  if (kind === 'human') {
    const { work, code } = divided(props);
    return {
      code: withSchema(code, props.schema),
      data: present({ ...work, prompt: promptOf(element), schema: schemaOf(props.schema, element) }),
    };
  }
  if (isRunnableKind(kind)) {
    const { work, code } = divided(props);
    if (kind === 'task') {
      const { run, ...data } = work;
      return { code: { ...code, run }, data: present(data) };
    }
    const plan = work.plan as { readonly name: string };
    return { code: { ...code, plan }, data: present({ ...work, plan: plan.name }) };
  }
  if (kind === 'effect') {
    const { run, cleanup, deps = [], ...rest } = props;
    return { code: cleanup === undefined ? { run } : { run, cleanup }, data: present({ ...rest, deps }) };
  }
  return { data: present(props) };
}

/** Handlers apart from the rest. */
function divided(props: Readonly<Record<string, unknown>>) {
  const entries = Object.entries(props).filter(([, value]) => value !== undefined);
  const handlers = Object.fromEntries(entries.filter(([name]) => handlerNames.includes(name as HandlerName)));
  const work = Object.fromEntries(entries.filter(([name]) => !handlerNames.includes(name as HandlerName)));
  return { work: { ...work, retries: work.retries ?? DEFAULT_RETRIES } as Record<string, unknown>, code: { handlers } };
}

/** A schema of the author's own checks the output in the plan's thread; a JSON Schema is the executor's to check. */
function withSchema(code: { readonly handlers: object }, schema: unknown): Readonly<Record<string, unknown>> {
  return schema instanceof z.ZodType ? { ...code, schema } : code;
}

function promptOf(element: PlanElement): string {
  const between = element.slots.filter((slot: Slot) => typeof slot === 'string').join('');
  const written = element.props.prompt as string | undefined;
  if (written !== undefined && between !== '') {
    throw new PlanError('plan/invalid-props', 'a prompt is a prop or stands between the tags, not both', {
      source: element.source,
    });
  }
  const prompt = written ?? between;
  if (prompt === '') throw new PlanError('plan/invalid-props', 'there is no prompt', { source: element.source });
  return prompt;
}

const jsonSchemas = new WeakMap<object, JsonObject>();

function schemaOf(schema: unknown, element: PlanElement): JsonObject | undefined {
  if (!(schema instanceof z.ZodType)) return schema as JsonObject | undefined;
  const known = jsonSchemas.get(schema);
  if (known !== undefined) return known;
  try {
    const made = JSON.parse(JSON.stringify(z.toJSONSchema(schema))) as JsonObject;
    jsonSchemas.set(schema, made);
    return made;
  } catch (cause) {
    throw new PlanError('plan/invalid-props', `the schema has no JSON Schema: ${(cause as Error).message}`, {
      source: element.source,
      cause,
    });
  }
}

function present(data: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined)) as Record<string, Json>;
}
