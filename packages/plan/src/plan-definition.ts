import type { Json } from '@signalbox/model';
import * as z from 'zod';
import type { PlanContext } from './context.ts';
import type { PlanChild } from './jsx/element.ts';
import { authorPosition, PlanError, type SourcePosition } from './plan-error.ts';
import { frozen } from './state/frozen.ts';

type StateShape = Readonly<Record<string, z.ZodType>>;

/** A plan: its name, input, state, and how it looks at any moment. */
export interface PlanDefinition<Input extends z.ZodType, State extends StateShape> {
  readonly name: string;
  readonly description?: string;
  readonly input: Input;
  readonly state: z.ZodObject<State>;
  /** Pure: reads `ctx`, returns elements. */
  readonly render: (ctx: PlanContext<z.infer<Input>, StateValues<State>>) => PlanChild;
  readonly signals: Readonly<Record<string, PlanSignal>>;
  /** Whether its runs have their own workspace. */
  readonly workspace: boolean;
}

/** How a plan handles a signal, once for each: `handle` runs like the handler of a node. */
export interface PlanSignal {
  readonly schema?: z.ZodType;
  readonly handle: (payload: never, ctx: never) => void;
}

type StateValues<State extends StateShape> = { readonly [Key in keyof State]: z.infer<State[Key]> };

/** A plan with unknown types. */
export interface AnyPlan {
  readonly name: string;
  readonly description?: string;
  readonly input: z.ZodType;
  readonly state: z.ZodObject;
  readonly render: (ctx: never) => PlanChild;
  readonly signals?: Readonly<Record<string, PlanSignal>>;
  readonly workspace?: boolean;
}

export type PlanInput<Plan extends AnyPlan> = z.input<Plan['input']>;

const planName = z.string().regex(/^[a-z0-9][a-z0-9._-]*$/i, 'must be letters, digits, dots, dashes and underscores');
const NO_INPUT = z.unknown();
const NO_STATE = z.object({});

interface Written<Input extends z.ZodType, State extends StateShape, Signals extends SignalPayloads> {
  readonly name: string;
  /** Its purpose, in a sentence or two: shown before a start. */
  readonly description?: string;
  /** The schema of the input, checked before anything runs. People get a form made from it. */
  readonly input?: Input;
  readonly state?: z.ZodObject<State>;
  readonly render: PlanDefinition<Input, State>['render'];
  /**
   * Gives every run its own workspace: a worktree of the git repository that contains its directory, or a copy if there is none. Agents and
   * tasks work there.
   */
  readonly workspace?: boolean;
  /** Handlers of signals by name. The payload is parsed by `schema`; `z.json()` accepts any. */
  readonly signals?: {
    readonly [Name in keyof Signals]: {
      readonly schema: Signals[Name];
      readonly handle: (payload: z.infer<Signals[Name]>, ctx: PlanContext<z.infer<Input>, StateValues<State>>) => void;
    };
  };
}

type SignalPayloads = Readonly<Record<string, z.ZodType>>;

/**
 * Defines a plan. `ctx.input` and `ctx.state` in `render` have the types of the two schemas. A state key starts with the default of its
 * schema, or absent.
 */
export function definePlan<
  Input extends z.ZodType = z.ZodUnknown,
  const State extends StateShape = Record<never, never>,
  const Signals extends SignalPayloads = Record<never, never>,
>(written: Written<Input, State, Signals>): PlanDefinition<Input, State> {
  const here = new Error('defined');
  const wrong = (message: string) =>
    new PlanError('plan/not-a-plan', message, {
      source: authorPosition(here),
      suggestion: 'Correct what definePlan is given there.',
    });
  const name = planName.safeParse(written.name);
  if (!name.success) throw wrong(`the name of the plan ${name.error.issues[0]?.message}`);
  if (typeof written.render !== 'function') throw wrong(`plan ${name.data} has no render function`);
  const { description } = written;
  if (description !== undefined && typeof description !== 'string')
    throw wrong(`the description of plan ${name.data} must be a text`);
  for (const [signal, { schema, handle }] of Object.entries<PlanSignal>(written.signals ?? {})) {
    const fits = typeof handle === 'function' && (schema === undefined || schema instanceof z.ZodType);
    if (!fits)
      throw wrong(
        `signal '${signal}' of plan ${name.data} must have a function \`handle\` and may have a zod \`schema\``,
      );
  }
  const plan = Object.freeze({
    name: name.data,
    ...(description === undefined ? {} : { description }),
    // Without a schema of its own, the type parameter is that of the empty one.
    input: written.input ?? (NO_INPUT as unknown as Input),
    state: written.state ?? (NO_STATE as unknown as z.ZodObject<State>),
    render: written.render,
    workspace: written.workspace === true,
    signals: Object.freeze({ ...written.signals }) as Readonly<Record<string, PlanSignal>>,
  });
  definitions.set(plan, here);
  return plan;
}

/** Where plans were defined; read only for an error. */
const definitions = new WeakMap<object, Error>();

/** Where an author defined a plan; undefined for one that was not loaded from a plan's file. */
export function placeOfPlan(plan: AnyPlan): SourcePosition | undefined {
  return authorPosition(definitions.get(plan));
}

export function isPlan(value: unknown): value is AnyPlan {
  const plan = value as Partial<AnyPlan> | null;
  return (
    typeof plan === 'object' &&
    plan !== null &&
    typeof plan.name === 'string' &&
    plan.input instanceof z.ZodType &&
    plan.state instanceof z.ZodObject &&
    typeof plan.render === 'function'
  );
}

/** Whether its author did not declare an input. */
export function takesAnything({ input }: AnyPlan): boolean {
  return input === NO_INPUT;
}

/** The initial values of a run: copies, so that no two runs share one. */
export function initialState(plan: AnyPlan): ReadonlyMap<string, Json> {
  const values = new Map<string, Json>();
  for (const [key, schema] of Object.entries(plan.state.shape)) {
    const value = (schema as z.ZodType).safeParse(undefined);
    if (!value.success || value.data === undefined) continue;
    const plain = frozen(structuredClone(value.data));
    if (!plain.ok)
      throw new PlanError('plan/state-invalid', `the default of '${key}' is not plain data: ${plain.error}`);
    values.set(key, plain.value);
  }
  return values;
}
