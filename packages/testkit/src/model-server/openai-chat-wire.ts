import { type Json, type JsonObject, json, jsonObject } from '@signalbox/model';
import * as z from 'zod';
import { type ModelAnswer, textDeltas, wholeText } from './model-script.ts';
import { bearerMissing, openaiRefusal } from './openai-errors.ts';
import { type AnswerContext, joined, type Wire, type WireEvent, type WireMessage, type WirePart } from './wire.ts';

const content = z
  .union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().default('') }))])
  .transform(value => (typeof value === 'string' ? value : value.map(part => part.text).join('\n')));
const message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('system'), content }),
  z.looseObject({ role: z.literal('developer'), content }),
  z.looseObject({ role: z.literal('user'), content }),
  z.looseObject({
    role: z.literal('assistant'),
    content: content.nullish(),
    tool_calls: z
      .array(
        z.discriminatedUnion('type', [
          z.looseObject({
            id: z.string(),
            type: z.literal('function'),
            function: z.looseObject({ name: z.string(), arguments: z.string() }),
          }),
          z.looseObject({
            id: z.string(),
            type: z.literal('custom'),
            custom: z.looseObject({ name: z.string(), input: z.string() }),
          }),
        ]),
      )
      .default([]),
  }),
  z.looseObject({ role: z.literal('tool'), tool_call_id: z.string(), content }),
]);
const request = z.looseObject({
  model: z.string().min(1),
  messages: z.array(message),
  tools: z
    .array(
      z.discriminatedUnion('type', [
        z.looseObject({
          type: z.literal('function'),
          function: z.looseObject({
            name: z.string(),
            description: z.string().default(''),
            parameters: jsonObject,
          }),
        }),
        z.looseObject({
          type: z.literal('custom'),
          custom: z.looseObject({ name: z.string(), description: z.string().default('') }),
        }),
      ]),
    )
    .default([]),
  stream: z.boolean().default(false),
  stream_options: z.looseObject({ include_usage: z.boolean().default(false) }).optional(),
  response_format: z.looseObject({ type: z.string(), json_schema: json.optional() }).optional(),
});

/** OpenAI's Chat Completions. */
export const openaiChatWire: Wire = {
  vendor: 'openai-chat',
  route: path => (path.endsWith('/chat/completions') ? { model: '' } : undefined),
  unauthorized: bearerMissing,
  read(body) {
    const parsed = request.safeParse(body);
    if (!parsed.success) return z.prettifyError(parsed.error);
    const { data } = parsed;
    const isSystem = (one: { role: string }) => one.role === 'system' || one.role === 'developer';
    return {
      model: data.model,
      system: data.messages.flatMap(one => (isSystem(one) && 'content' in one ? [one.content ?? ''] : [])).join('\n'),
      messages: joined(data.messages.filter(one => !isSystem(one)).map(readMessage)),
      tools: data.tools.map(tool =>
        tool.type === 'custom'
          ? { name: tool.custom.name, description: tool.custom.description, schema: {}, takesText: true }
          : {
              name: tool.function.name,
              description: tool.function.description,
              schema: tool.function.parameters,
            },
      ),
      stream: data.stream,
      wantsJson: data.response_format?.type.startsWith('json') ?? false,
    };
  },
  whole(answer, context) {
    const calls = callsOf(answer, context);
    const text = wholeText(answer.text);
    return {
      ...head(context, 'chat.completion'),
      choices: [
        {
          index: 0,
          finish_reason: finishReason(answer),
          message: {
            role: 'assistant',
            content: text === '' ? null : text,
            ...(calls.length > 0 && { tool_calls: calls }),
          },
        },
      ],
      usage: usageOf(context),
    };
  },
  events(answer, context) {
    const base = head(context, 'chat.completion.chunk');
    const chunk = (delta: JsonObject, finish_reason: string | null = null): WireEvent => ({
      data: { ...base, choices: [{ index: 0, delta, finish_reason }] },
    });
    const calls = callsOf(answer, context).flatMap((call, index) => {
      const piece = (fields: JsonObject) => chunk({ tool_calls: [{ index, ...fields }] });
      if (call.type === 'custom') {
        const { custom, ...rest } = call;
        return [
          piece({ ...rest, custom: { name: custom.name, input: '' } }),
          ...textDeltas(custom.input).map(input => piece({ custom: { input } })),
        ];
      }
      const { function: called, ...rest } = call;
      return [
        piece({ ...rest, function: { name: called.name, arguments: '' } }),
        ...textDeltas(called.arguments).map(part => piece({ function: { arguments: part } })),
      ];
    });
    return [
      chunk({ role: 'assistant', content: '' }),
      ...textDeltas(answer.text).map(part => chunk({ content: part })),
      ...calls,
      chunk({}, finishReason(answer)),
      { data: { ...base, choices: [], usage: usageOf(context) } },
      { data: '[DONE]' },
    ];
  },
  refusal: openaiRefusal,
  errorEvent: message => ({ data: { error: { message, type: 'server_error', param: null, code: null } } }),
};

function readMessage(one: z.infer<typeof message>): WireMessage {
  if (one.role === 'tool')
    return { role: 'user', parts: [{ kind: 'result', id: one.tool_call_id, text: one.content }] };
  if (one.role !== 'assistant') return { role: 'user', parts: [{ kind: 'text', text: one.content }] };
  const parts: WirePart[] = one.content ? [{ kind: 'text', text: one.content }] : [];
  for (const call of one.tool_calls) {
    const { name } = call.type === 'custom' ? call.custom : call.function;
    parts.push({ kind: 'call', id: call.id, tool: name });
  }
  return { role: 'assistant', parts };
}

type Call =
  | { id: string; type: 'function'; function: { name: string; arguments: string } }
  | { id: string; type: 'custom'; custom: { name: string; input: string } };

function callsOf(answer: ModelAnswer, { call, tools }: AnswerContext): readonly Call[] {
  return (answer.calls ?? []).map(({ tool, input, rawInput }, index) => {
    const id = `call_${call}_${index}`;
    const takesText = tools.some(one => one.name === tool && one.takesText);
    return takesText
      ? { id, type: 'custom', custom: { name: tool, input: rawInput ?? String(input) } }
      : { id, type: 'function', function: { name: tool, arguments: rawInput ?? JSON.stringify(input) } };
  });
}

function head({ call, model }: AnswerContext, object: string) {
  return { id: `chatcmpl-${call}`, object, created: 1, model };
}

function finishReason(answer: ModelAnswer): string {
  if (answer.finish === 'length') return 'length';
  if (answer.finish === 'refused') return 'content_filter';
  return (answer.calls ?? []).length > 0 ? 'tool_calls' : 'stop';
}

function usageOf({ usage }: AnswerContext): Json {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}
