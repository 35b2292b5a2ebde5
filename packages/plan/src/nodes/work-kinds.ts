import { defined, type Json, type JsonObject, json, jsonObject, text, timestamp } from '@signalbox/model';
import { DEFAULT_BACKOFF_MS, ownToolDefinition } from '@signalbox/runs';
import * as z from 'zod';
import { duration } from '../failures/duration.ts';
import { isElement, type PlanElement, type Slot } from '../jsx/element.ts';
import { PlanError } from '../plan-error.ts';
import { isOwnTool, type OwnTool } from '../tools/own-tool.ts';
import { type HandlerName, handlerNames } from './handlers.ts';
import { type ElementEntry, type KindEntry, type NodeContent, present, type WorkEntry } from './kind-entry.ts';
import type { AgentKind, RunnableKind } from './node-kind.ts';
import { code, common, count, label, name, plain } from './written-props.ts';

const DEFAULT_RETRIES = 3;
/** The answer to a `Keep` that keeps nothing. */
export const KEEP_NONE = 'none';
export const DEFAULT_MAX_TURNS = 50;
/** A hundred years: a longer wait is a mistake, and its time could not be recorded. */
const MAX_WAIT_MS = 100 * 365 * 24 * 60 * 60 * 1000;
/** Increase it when the meaning of an agent's history changes: results under another version are different results. */
const HISTORY_POLICY_VERSION = 1;

const handlers = {
  onFinished: code.optional(),
  onError: code.optional(),
  onProgress: code.optional(),
  onBlocked: code.optional(),
};
const backoff = z.strictObject({
  first: duration.optional(),
  factor: z.number().min(1).max(10).optional(),
  max: duration.optional(),
});
const retryProps = z.strictObject({
  attempts: count.max(100).optional(),
  backoff: z.union([duration, backoff], 'must be a duration, or { first, factor, max }').optional(),
  on: z.union([z.array(name), code], 'must be a list of names and codes, or a function').optional(),
});
const running = {
  ...common,
  ...handlers,
  onFailed: code.optional(),
  allowFailure: z.boolean().optional(),
  retry: retryProps.optional(),
  retries: z.int().nonnegative().optional(),
  timeout: duration.optional(),
  timeoutMs: count.optional(),
};
const schema = z.custom<z.ZodType | { readonly [key: string]: Json }>(
  value => typeof value === 'object' && value !== null && !isElement(value),
  'must be a zod schema or a JSON Schema',
);
const kept = {
  ...label,
  retries: z.int().nonnegative(),
  /** How often it is tried at most, where its author said so with `retry`. */
  attempts: z.int().positive().optional(),
  backoff: z
    .strictObject({ firstMs: z.int().nonnegative(), factor: z.number(), maxMs: z.int().positive().optional() })
    .optional(),
  timeoutMs: z.int().positive().optional(),
  /** Its failure is taken in: what comes after it goes on. */
  allowFailure: z.literal(true).optional(),
};

/** An MCP server whose tools an agent is given. `env` and `token` are names of variables of the owner's environment. */
const mcpServer = z
  .strictObject({
    command: z.array(text).min(1).readonly().optional(),
    url: z.url({ protocol: /^https?$/ }).optional(),
    allow: z.array(name).min(1).readonly(),
    prefix: z
      .string()
      .regex(/^[a-zA-Z][a-zA-Z0-9_-]{0,30}$/)
      .optional(),
    env: z.array(name).readonly().optional(),
    token: name.optional(),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), 'needs either command or url')
  .refine(({ url, env }) => url === undefined || env === undefined, 'env is for a command')
  .refine(({ url, token }) => url !== undefined || token === undefined, 'token is for a url');

const agentProps = {
  ...running,
  prompt: text.optional(),
  system: text.optional(),
  tools: z
    .union(
      [
        z.strictObject({ allow: z.array(name).optional(), deny: z.array(name).optional() }),
        z.array(z.union([name, z.custom<OwnTool>(isOwnTool)])),
      ],
      'must be a list of names and of tools made by tool(), or { allow, deny }',
    )
    .optional(),
  mcp: z.array(mcpServer).optional(),
  schema: schema.optional(),
  maxTurns: count.optional(),
  maxTokens: count.optional(),
  history: z.strictObject({ maxMessages: count.optional(), maxTokens: count.optional() }).optional(),
  resume: z.enum(['continue', 'restart', 'fail']).optional(),
  permissions: z.enum(['gated', 'skip']).optional(),
  apply: z.enum(['ask', 'auto', 'never', 'hold']).optional(),
  check: name.optional(),
  cwd: name.optional(),
};
const agentData = z.strictObject({
  ...kept,
  model: text.optional(),
  plugin: text.optional(),
  prompt: text,
  system: text.optional(),
  tools: z
    .strictObject({
      allow: z.array(text).readonly().optional(),
      deny: z.array(text).readonly().optional(),
      /** The plan's own, which are allowed too. */
      own: z.array(ownToolDefinition).readonly().optional(),
    })
    .optional(),
  mcp: z.array(mcpServer).readonly().optional(),
  schema: jsonObject.optional(),
  maxTurns: z.int().positive(),
  maxTokens: z.int().positive().optional(),
  history: z
    .strictObject({ maxMessages: z.int().positive().optional(), maxTokens: z.int().positive().optional() })
    .optional(),
  resume: z.enum(['continue', 'restart', 'fail']),
  permissions: z.enum(['gated', 'skip']),
  apply: z.enum(['ask', 'auto', 'never', 'hold']).optional(),
  check: text.optional(),
  cwd: text.optional(),
});

function agentContent(element: PlanElement): NodeContent {
  const { props } = element;
  const { work, code } = divided(element);
  const tools = toolsOf(element);
  return {
    code: { ...withSchema(code, props.schema), ...(tools.own.size > 0 && { tools: tools.own }) },
    data: present({
      ...work,
      tools: tools.data,
      prompt: promptOf(element),
      schema: schemaOf(props.schema, element),
      maxTurns: props.maxTurns ?? DEFAULT_MAX_TURNS,
      resume: props.resume ?? 'continue',
      permissions: props.permissions ?? 'skip',
    }),
  };
}

/** The names that an agent is given, and the tools among them that the plan brings along. */
function toolsOf({ props, source }: PlanElement): {
  readonly data: z.infer<typeof agentData>['tools'];
  readonly own: ReadonlyMap<string, OwnTool>;
} {
  const given = props.tools as z.infer<typeof agentProps.tools>;
  const plugin = props.plugin as string | undefined;
  const refuse = (message: string) => new PlanError('plan/invalid-props', message, { source });
  if (plugin !== undefined && plugin !== 'builtin' && (Array.isArray(given) || props.mcp !== undefined))
    throw refuse(`a list of tools and mcp are for the built-in agent; ${plugin} brings its own tools`);
  if (!Array.isArray(given)) return { data: given, own: new Map() };
  const own = new Map<string, OwnTool>();
  for (const one of given) {
    if (typeof one === 'string') continue;
    if (own.has(one.name) && own.get(one.name) !== one) throw refuse(`two tools are called "${one.name}"`);
    own.set(one.name, one);
  }
  const allow = [...new Set(given.map(one => (typeof one === 'string' ? one : one.name)))];
  const definitions = [...own.values()].map(({ definition }) => definition);
  return { data: { allow, ...(definitions.length > 0 && { own: definitions }) }, own };
}

function agentSignature(data: z.infer<typeof agentData>, environment: string): JsonObject {
  const { model, plugin, prompt, system, tools, mcp, schema, maxTurns, history, cwd } = data;
  return {
    model: model ?? null,
    plugin: plugin ?? null,
    prompt,
    system: system ?? null,
    tools:
      tools === undefined
        ? null
        : { allow: sorted(tools.allow), deny: sorted(tools.deny), ...defined({ own: tools.own }) },
    ...(mcp !== undefined && { mcp: mcp as Json }),
    schema: schema ?? null,
    maxTurns,
    history: {
      version: HISTORY_POLICY_VERSION,
      maxMessages: history?.maxMessages ?? null,
      maxTokens: history?.maxTokens ?? null,
    },
    cwd: cwd ?? null,
    environment,
  };
}

/** An agent changes files through tools that can be undone. */
const agentWork: WorkEntry = {
  by: 'agent',
  signature: agentSignature,
  input: ['prompt', 'system', 'model', 'maxTurns', 'maxTokens'],
  effects: () => 'undoable',
  cutOff: 'orphaned',
};
const agent = (props: z.ZodType) =>
  ({
    data: agentData,
    flow: 'leaf',
    element: { props, between: 'text', content: agentContent },
    work: agentWork,
  }) as const satisfies KindEntry<AgentKind>;
const vendor = agent(z.strictObject({ ...agentProps, model: name.optional(), plugin: name.optional() }));

const effects = z.enum(['none', 'undoable', 'external']);
const taskData = z.strictObject({
  ...kept,
  input: json.optional(),
  effects: effects.optional(),
  idempotent: z.boolean().optional(),
});
const humanData = z.strictObject({
  ...kept,
  /** A denial is taken in. */
  mayBeDenied: z.literal(true).optional(),
  prompt: text,
  options: z
    .array(z.strictObject({ id: text, label: text.optional() }))
    .readonly()
    .optional(),
  schema: jsonObject.optional(),
  context: json.optional(),
});
const keepData = z.strictObject({
  ...kept,
  from: z.array(text).readonly(),
  apply: z.enum(['ask', 'check', 'never']),
  prompt: text.optional(),
});
const subPlanData = z.strictObject({ ...kept, plan: text, input: json.optional() });
const timerData = z.strictObject({
  ...label,
  until: timestamp.optional(),
  forMs: z.int().positive().optional(),
});

/** Kinds of nodes that do work. */
export const workKinds = {
  // A plugin may choose its own model.
  agent: agent(
    z
      .strictObject({ ...agentProps, model: name.optional(), plugin: name.optional() })
      .refine(({ model, plugin }) => model !== undefined || plugin !== undefined, {
        path: ['model'],
        message: 'name a model, or an installed agent as its plugin',
      }),
  ),
  claude: vendor,
  codex: vendor,
  gemini: vendor,
  openai: vendor,
  task: {
    data: taskData,
    flow: 'leaf',
    element: {
      props: z.strictObject({
        ...running,
        run: code,
        input: plain,
        effects: effects.optional(),
        idempotent: z.boolean().optional(),
      }),
      between: 'nothing',
      content(element) {
        const { work, code } = divided(element);
        const { run, ...data } = work;
        return { code: { ...code, run }, data: present(data) };
      },
    } satisfies ElementEntry,
    work: {
      by: 'plan',
      signature: ({ input }: z.infer<typeof taskData>) => ({ input: input ?? null }),
      input: 'whole',
      // What is idempotent may run twice, whatever it does outside.
      effects: ({ effects, idempotent }: z.infer<typeof taskData>) =>
        idempotent === true ? 'none' : (effects ?? 'none'),
      cutOff: 'orphaned',
    },
  },
  human: {
    data: humanData,
    flow: 'leaf',
    element: {
      props: z.strictObject({
        ...running,
        onDenied: code.optional(),
        prompt: text.optional(),
        options: z
          .array(z.strictObject({ id: name, label: text.optional() }))
          .min(1)
          .optional(),
        schema: schema.optional(),
        context: plain,
      }),
      between: 'text',
      content(element) {
        const { props } = element;
        const { work, code } = divided(element);
        const denial = props.onDenied === undefined ? {} : { mayBeDenied: true };
        return {
          code: withSchema(code, props.schema),
          data: present({ ...work, ...denial, prompt: promptOf(element), schema: schemaOf(props.schema, element) }),
        };
      },
    } satisfies ElementEntry,
    work: {
      by: 'person',
      signature: ({ prompt, options, schema, context }: z.infer<typeof humanData>) => ({
        prompt,
        options: (options as Json | undefined) ?? null,
        schema: schema ?? null,
        context: context ?? null,
      }),
      input: ['prompt', 'options', 'context'],
      effects: () => 'none',
      cutOff: 'goes on',
    },
  },
  keep: {
    data: keepData,
    flow: 'leaf',
    element: {
      props: z.strictObject({
        ...running,
        from: z
          .array(name)
          .min(1)
          .refine(ids => new Set(ids).size === ids.length, 'names a node twice')
          .refine(ids => !ids.includes(KEEP_NONE), `"${KEEP_NONE}" is the answer that keeps nothing`),
        apply: z.enum(['ask', 'check', 'never']).optional(),
        prompt: text.optional(),
      }),
      between: 'nothing',
      content(element) {
        const { props } = element;
        const { work, code } = divided(element);
        return { code, data: present({ ...work, apply: props.apply ?? 'ask' }) };
      },
    } satisfies ElementEntry,
    work: {
      by: 'host',
      signature: ({ from, apply }: z.infer<typeof keepData>) => ({ from: [...from], apply }),
      effects: () => 'none',
      cutOff: 'goes on',
    },
  },
  subplan: {
    data: subPlanData,
    flow: 'leaf',
    element: {
      props: z.strictObject({
        ...running,
        plan: z.custom<{ readonly name: string }>(
          value => typeof value === 'object' && value !== null && 'render' in value,
          'must be a plan made by definePlan',
        ),
        input: plain,
      }),
      between: 'nothing',
      content(element) {
        const { work, code } = divided(element);
        const plan = work.plan as { readonly name: string };
        return { code: { ...code, plan }, data: present({ ...work, plan: plan.name }) };
      },
    } satisfies ElementEntry,
    work: {
      by: 'sub-plan',
      signature: ({ plan, input }: z.infer<typeof subPlanData>) => ({ plan, input: input ?? null }),
      input: 'whole',
      effects: () => 'none',
      cutOff: 'goes on',
    },
  },
  timer: {
    data: timerData,
    flow: 'leaf',
    element: {
      props: z
        .strictObject({
          ...common,
          onFinished: code.optional(),
          onError: code.optional(),
          onBlocked: code.optional(),
          until: z.iso
            .datetime({ offset: true, error: 'must be a time with its zone, such as 2027-01-31T09:00:00Z' })
            .optional(),
          forMs: count.max(MAX_WAIT_MS, 'must be at most 100 years, in milliseconds').optional(),
        })
        .refine(({ until, forMs }) => (until === undefined) !== (forMs === undefined), 'needs either until or forMs'),
      between: 'nothing',
      content(element) {
        const { work, code } = divided(element);
        const { retries: _, until, ...data } = work;
        const at = until === undefined ? {} : { until: new Date(until as string).toISOString() };
        return { code, data: present({ ...data, ...at }) };
      },
    } satisfies ElementEntry,
    // The time of a timer is set when it is reached, and no render moves it.
    work: { by: 'clock', signature: () => ({}), effects: () => 'none', cutOff: 'goes on' },
  },
} as const satisfies { readonly [Kind in RunnableKind]: KindEntry<Kind> };

/** Separates the author's code from the other props, and says each of them in one way. */
function divided(element: PlanElement) {
  const { id: _, ...props } = element.props;
  const entries = Object.entries(props).filter(([, value]) => value !== undefined);
  const isHandler = (prop: string) => handlerNames.includes(prop as HandlerName);
  const handlers = Object.fromEntries(entries.filter(([prop]) => isHandler(prop)));
  const rest: Record<string, unknown> = Object.fromEntries(entries.filter(([prop]) => !isHandler(prop)));
  const { retry, retries, timeout, timeoutMs, allowFailure, ...work } = rest;
  refuseBoth(element, 'retry', 'retries');
  refuseBoth(element, 'timeout', 'timeoutMs');
  refuseBoth(element, 'onFailed', 'onError');
  const { attempts, backoff, on } = (retry ?? {}) as z.infer<typeof retryProps>;
  const tries = retry === undefined ? undefined : (attempts ?? DEFAULT_RETRIES + 1);
  return {
    work: present({
      ...work,
      retries: tries === undefined ? (retries ?? DEFAULT_RETRIES) : tries - 1,
      attempts: tries,
      backoff: backoff === undefined ? undefined : backoffOf(backoff),
      timeoutMs: timeout ?? timeoutMs,
      allowFailure: allowFailure === true || handlers.onFailed !== undefined ? true : undefined,
    }) as Record<string, unknown>,
    code: { handlers, ...(on !== undefined && { retryOn: on }) },
  };
}

/** A duration alone is the same before each attempt. */
function backoffOf(given: NonNullable<z.infer<typeof retryProps>['backoff']>) {
  if (typeof given === 'number') return { firstMs: given, factor: 1, maxMs: given };
  const { first = DEFAULT_BACKOFF_MS, factor = 2, max } = given;
  return present({ firstMs: first, factor, maxMs: max });
}

function refuseBoth({ props, source }: PlanElement, one: string, other: string): void {
  if (props[one] === undefined || props[other] === undefined) return;
  throw new PlanError('plan/invalid-props', `give ${one} or ${other}, not both`, { source });
}

/** The author's own schema validates the output in the plan's thread; the executor validates a JSON Schema. */
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

function sorted(names: readonly string[] | undefined): Json {
  return names === undefined ? null : [...names].sort();
}
