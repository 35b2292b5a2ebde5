import { type Json, type JsonObject, json, jsonObject } from '@signalbox/model';
import * as z from 'zod';
import { type ModelAnswer, type OfferedTool, textDeltas, wholeText } from './model-script.ts';
import { bearerMissing, openaiRefusal } from './openai-errors.ts';
import { type AnswerContext, joined, type Wire, type WireEvent, type WireMessage } from './wire.ts';

const content = z
  .union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().default('') }))])
  .transform(value => (typeof value === 'string' ? value : value.map(part => part.text).join('\n')));
const item = z.union([
  z.looseObject({ type: z.literal('function_call'), call_id: z.string(), name: z.string(), arguments: z.string() }),
  z.looseObject({ type: z.literal('function_call_output'), call_id: z.string(), output: content }),
  z.looseObject({ type: z.literal('custom_tool_call'), call_id: z.string(), name: z.string(), input: z.string() }),
  z.looseObject({ type: z.literal('custom_tool_call_output'), call_id: z.string(), output: content }),
  z.looseObject({
    type: z.literal('reasoning'),
    encrypted_content: z.string().nullish(),
    summary: z.array(z.looseObject({ type: z.literal('summary_text'), text: z.string() })),
  }),
  z.looseObject({ type: z.literal('item_reference'), id: z.string() }),
  z.looseObject({
    type: z.literal('message').default('message'),
    role: z.enum(['system', 'developer', 'user', 'assistant']),
    content,
  }),
]);
const functionTool = z.looseObject({
  type: z.literal('function'),
  name: z.string(),
  description: z.string().nullish(),
  parameters: jsonObject,
});
const textTool = z.looseObject({
  type: z.literal('custom'),
  name: z.string(),
  description: z.string().nullish(),
  format: z.looseObject({ type: z.enum(['text', 'grammar']) }).optional(),
});
const tool = z.discriminatedUnion('type', [
  functionTool,
  textTool,
  z.looseObject({
    type: z.literal('namespace'),
    name: z.string(),
    description: z.string(),
    tools: z.array(z.discriminatedUnion('type', [functionTool, textTool])).min(1),
  }),
  /** Called by items of their own, which no script has. */
  z.looseObject({ type: z.literal('web_search') }),
  z.looseObject({ type: z.literal('tool_search'), parameters: jsonObject }),
]);
const request = z.looseObject({
  model: z.string().min(1),
  instructions: z.string().nullish(),
  input: z.union([
    z.string().transform(text => [{ type: 'message' as const, role: 'user' as const, content: text }]),
    z.array(item),
  ]),
  tools: z.array(tool).default([]),
  stream: z.boolean().default(false),
  store: z.boolean().default(true),
  text: z.looseObject({ format: z.looseObject({ type: z.string(), schema: json.optional() }).optional() }).optional(),
});

const ENCRYPTED = 'encrypted-by-the-model-server';

/** OpenAI's Responses. It remembers nothing: what is only referred to is not found. */
export const openaiResponsesWire: Wire = {
  vendor: 'openai-responses',
  route: path => (path.endsWith('/responses') ? { model: '' } : undefined),
  unauthorized: bearerMissing,
  read(body) {
    const parsed = request.safeParse(body);
    if (!parsed.success) return z.prettifyError(parsed.error);
    const { data } = parsed;
    const system = data.instructions ? [data.instructions] : [];
    const messages: WireMessage[] = [];
    const names = new Map<string, string>();
    for (const one of data.input) {
      switch (one.type) {
        case 'message':
          if (one.role === 'system' || one.role === 'developer') system.push(one.content);
          else messages.push({ role: one.role, parts: [{ kind: 'text', text: one.content }] });
          break;
        case 'function_call':
        case 'custom_tool_call':
          names.set(one.call_id, one.name);
          messages.push({ role: 'assistant', parts: [{ kind: 'call', id: one.call_id, tool: one.name }] });
          break;
        case 'function_call_output':
        case 'custom_tool_call_output': {
          const tool = names.get(one.call_id);
          const part = { kind: 'result' as const, id: one.call_id, text: one.output, ...(tool && { tool }) };
          messages.push({ role: 'user', parts: [part] });
          break;
        }
        case 'reasoning':
          if (one.encrypted_content !== ENCRYPTED)
            return 'A reasoning item was provided without its encrypted content.';
          messages.push({ role: 'assistant', parts: [{ kind: 'thinking' }] });
          break;
        case 'item_reference':
          return `Item with id '${one.id}' not found.`;
      }
    }
    return {
      model: data.model,
      system: system.join('\n'),
      messages: joined(messages),
      tools: data.tools.flatMap(offered),
      stream: data.stream,
      wantsJson: data.text?.format?.type.startsWith('json') ?? false,
    };
  },
  whole(answer, context) {
    return responseOf(answer, context, itemsOf(answer, context));
  },
  events(answer, context) {
    const events: WireEvent[] = [];
    const add = (data: { readonly type: string } & JsonObject) => {
      events.push({ event: data.type, data: { ...data, sequence_number: events.length } });
    };
    const items = itemsOf(answer, context);
    const response = responseOf(answer, context, items);
    const underWay = { ...response, status: 'in_progress', output: [], usage: null };
    add({ type: 'response.created', response: underWay });
    add({ type: 'response.in_progress', response: underWay });
    for (const [output_index, one] of items.entries()) {
      const at = { item_id: one.id, output_index };
      switch (one.type) {
        case 'reasoning': {
          const summary = { ...at, summary_index: 0 };
          add({ type: 'response.output_item.added', output_index, item: { ...one, summary: [] } });
          add({ type: 'response.reasoning_summary_part.added', ...summary, part: { type: 'summary_text', text: '' } });
          for (const delta of textDeltas(answer.thinking)) {
            add({ type: 'response.reasoning_summary_text.delta', ...summary, delta });
          }
          add({ type: 'response.reasoning_summary_part.done', ...summary, part: one.summary[0] ?? null });
          break;
        }
        case 'message': {
          const part = { ...at, content_index: 0 };
          add({
            type: 'response.output_item.added',
            output_index,
            item: { ...one, status: 'in_progress', content: [] },
          });
          add({
            type: 'response.content_part.added',
            ...part,
            part: { type: 'output_text', text: '', annotations: [] },
          });
          for (const delta of textDeltas(answer.text)) add({ type: 'response.output_text.delta', ...part, delta });
          add({ type: 'response.output_text.done', ...part, text: wholeText(answer.text) });
          add({ type: 'response.content_part.done', ...part, part: one.content[0] ?? null });
          break;
        }
        case 'function_call':
          add({
            type: 'response.output_item.added',
            output_index,
            item: { ...one, status: 'in_progress', arguments: '' },
          });
          for (const delta of textDeltas(one.arguments)) {
            add({ type: 'response.function_call_arguments.delta', ...at, delta });
          }
          add({ type: 'response.function_call_arguments.done', ...at, arguments: one.arguments });
          break;
        case 'custom_tool_call':
          add({ type: 'response.output_item.added', output_index, item: { ...one, status: 'in_progress', input: '' } });
          for (const delta of textDeltas(one.input)) {
            add({ type: 'response.custom_tool_call_input.delta', ...at, delta });
          }
          add({ type: 'response.custom_tool_call_input.done', ...at, input: one.input });
          break;
      }
      add({ type: 'response.output_item.done', output_index, item: one });
    }
    add({ type: answer.finish === undefined ? 'response.completed' : 'response.incomplete', response });
    return events;
  },
  refusal: openaiRefusal,
  errorEvent: message => ({
    event: 'error',
    data: { type: 'error', sequence_number: 0, code: 'server_error', message, param: null },
  }),
};

type Item =
  | { type: 'reasoning'; id: string; summary: { type: 'summary_text'; text: string }[]; encrypted_content: string }
  | {
      type: 'message';
      id: string;
      role: 'assistant';
      status: 'completed';
      content: { type: 'output_text'; text: string; annotations: never[] }[];
    }
  | {
      type: 'function_call';
      id: string;
      call_id: string;
      name: string;
      namespace?: string;
      arguments: string;
      status: 'completed';
    }
  | { type: 'custom_tool_call'; id: string; call_id: string; name: string; input: string; status: 'completed' };

/** The tools that a script can call, those of namespaces among them. */
function offered(one: z.infer<typeof tool>): readonly OfferedTool[] {
  switch (one.type) {
    case 'function':
      return [{ name: one.name, description: one.description ?? '', schema: one.parameters }];
    case 'custom':
      return [{ name: one.name, description: one.description ?? '', schema: {}, takesText: true }];
    case 'namespace':
      return one.tools.flatMap(offered).map(inside => ({ ...inside, namespace: one.name }));
    case 'web_search':
    case 'tool_search':
      return [];
  }
}

function itemsOf(answer: ModelAnswer, { call, tools }: AnswerContext): readonly Item[] {
  const items: Item[] = [];
  if (answer.thinking !== undefined) {
    const summary = [{ type: 'summary_text' as const, text: answer.thinking }];
    items.push({ type: 'reasoning', id: `rs_${call}`, summary, encrypted_content: ENCRYPTED });
  }
  if (wholeText(answer.text) !== '') {
    const content = [{ type: 'output_text' as const, text: wholeText(answer.text), annotations: [] }];
    items.push({ type: 'message', id: `msg_${call}`, role: 'assistant', status: 'completed', content });
  }
  for (const [index, { tool, namespace, input, rawInput }] of (answer.calls ?? []).entries()) {
    const call_id = `call_${call}_${index}`;
    const takesText = tools.some(one => one.name === tool && one.namespace === namespace && one.takesText);
    if (takesText) {
      const text = rawInput ?? String(input);
      items.push({
        type: 'custom_tool_call',
        id: `ctc_${call}_${index}`,
        call_id,
        name: tool,
        input: text,
        status: 'completed',
      });
      continue;
    }
    items.push({
      type: 'function_call',
      id: `fc_${call}_${index}`,
      call_id,
      name: tool,
      ...(namespace !== undefined && { namespace }),
      arguments: rawInput ?? JSON.stringify(input),
      status: 'completed',
    });
  }
  return items;
}

const incomplete = { length: 'max_output_tokens', refused: 'content_filter' } as const;

function responseOf(answer: ModelAnswer, { call, model, usage }: AnswerContext, output: readonly Item[]) {
  return {
    id: `resp_${call}`,
    object: 'response',
    created_at: 1,
    status: answer.finish === undefined ? 'completed' : 'incomplete',
    incomplete_details: answer.finish === undefined ? null : { reason: incomplete[answer.finish] },
    error: null,
    model,
    output: output as readonly Json[],
    usage: {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: usage.cached },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: usage.input + usage.output,
    },
  };
}
