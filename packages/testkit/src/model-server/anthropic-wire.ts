import { type Json, json, jsonObject } from '@signalbox/model';
import * as z from 'zod';
import { type ModelAnswer, textDeltas, wholeText } from './model-script.ts';
import { type AnswerContext, joined, type Wire, type WireEvent, type WireMessage, type WirePart } from './wire.ts';

const textBlock = z.looseObject({ type: z.literal('text'), text: z.string() });
const block = z.discriminatedUnion('type', [
  textBlock,
  z.looseObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
  z.looseObject({ type: z.literal('redacted_thinking'), data: z.string() }),
  z.looseObject({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: jsonObject }),
  z.looseObject({
    type: z.literal('tool_result'),
    tool_use_id: z.string(),
    content: z.union([z.string(), z.array(textBlock)]).default(''),
    is_error: z.boolean().optional(),
  }),
]);
const request = z.looseObject({
  model: z.string().min(1),
  max_tokens: z.int().positive(),
  system: z.union([z.string(), z.array(textBlock)]).default(''),
  messages: z.array(
    z.looseObject({ role: z.enum(['user', 'assistant', 'system']), content: z.union([z.string(), z.array(block)]) }),
  ),
  tools: z
    .array(z.looseObject({ name: z.string(), description: z.string().default(''), input_schema: jsonObject }))
    .default([]),
  stream: z.boolean().default(false),
  output_config: z.looseObject({ format: json.optional() }).optional(),
});

const SIGNATURE = 'signed-by-the-model-server';
const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

/** Anthropic's Messages. */
export const anthropicWire: Wire = {
  vendor: 'anthropic',
  route: path => (path.endsWith('/v1/messages') ? { model: '' } : undefined),
  counted: path => (path.endsWith('/v1/messages/count_tokens') ? { input_tokens: 100 } : undefined),
  unauthorized(headers) {
    if (!headers['x-api-key'] && !headers.authorization) return 'x-api-key header is required';
    return headers['anthropic-version'] ? undefined : 'anthropic-version: header is required';
  },
  read(body) {
    const parsed = request.safeParse(body);
    if (!parsed.success) return z.prettifyError(parsed.error);
    const { data } = parsed;
    const system = [typeof data.system === 'string' ? data.system : data.system.map(part => part.text).join('\n')];
    const messages: WireMessage[] = [];
    for (const [index, message] of data.messages.entries()) {
      const blocks =
        typeof message.content === 'string' ? [{ type: 'text' as const, text: message.content }] : message.content;
      const parts: WirePart[] = [];
      for (const part of blocks) {
        const read = readBlock(part);
        if (typeof read === 'string') return `messages.${index}: ${read}`;
        parts.push(read);
      }
      if (message.role === 'system') {
        const problem = systemProblem(parts, messages.at(-1));
        if (problem !== undefined) return `messages.${index}: ${problem}`;
        system.push(...parts.flatMap(part => (part.kind === 'text' ? [part.text] : [])));
      } else messages.push({ role: message.role, parts });
    }
    return {
      model: data.model,
      system: system.filter(text => text !== '').join('\n'),
      messages: joined(messages),
      tools: data.tools.map(tool => ({ name: tool.name, description: tool.description, schema: tool.input_schema })),
      stream: data.stream,
      wantsJson: data.output_config?.format !== undefined,
    };
  },
  whole(answer, context) {
    return {
      ...head(context),
      content: blocksOf(answer, context),
      stop_reason: stopReason(answer),
      usage: usageOf(context),
    };
  },
  events(answer, context) {
    const events: WireEvent[] = [];
    const add = (data: { readonly type: string } & Record<string, Json>) => events.push({ event: data.type, data });
    const usage = usageOf(context);
    add({
      type: 'message_start',
      message: { ...head(context), content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
    });
    add({ type: 'ping' });
    for (const [index, whole] of blocksOf(answer, context).entries()) {
      const { start, deltas } = streamed(whole, answer);
      add({ type: 'content_block_start', index, content_block: start });
      for (const delta of deltas) add({ type: 'content_block_delta', index, delta });
      add({ type: 'content_block_stop', index });
    }
    add({
      type: 'message_delta',
      delta: { stop_reason: stopReason(answer), stop_sequence: null },
      usage: { output_tokens: context.usage.output },
    });
    add({ type: 'message_stop' });
    return events;
  },
  refusal: (status, message) => ({ type: 'error', error: { type: errorTypes[status] ?? 'api_error', message } }),
  errorEvent: message => ({
    event: 'error',
    data: { type: 'error', error: { type: 'overloaded_error', message } },
  }),
};

/** Instructions may follow a message of the user; they are no turn of their own. */
function systemProblem(parts: readonly WirePart[], before: WireMessage | undefined): string | undefined {
  if (before?.role !== 'user') return 'a system message must follow a message of the user';
  return parts.every(part => part.kind === 'text') ? undefined : 'a system message must be text';
}

type Block =
  | { type: 'text'; text: string }
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'tool_use'; id: string; name: string; input: Json };

function blocksOf(answer: ModelAnswer, { call }: AnswerContext): readonly Block[] {
  const blocks: Block[] = [];
  if (answer.thinking !== undefined) blocks.push({ type: 'thinking', thinking: answer.thinking, signature: SIGNATURE });
  if (wholeText(answer.text) !== '') blocks.push({ type: 'text', text: wholeText(answer.text) });
  for (const [index, { tool, input }] of (answer.calls ?? []).entries()) {
    blocks.push({ type: 'tool_use', id: `toolu_${call}_${index}`, name: tool, input });
  }
  return blocks;
}

function streamed(whole: Block, answer: ModelAnswer): { start: Json; deltas: readonly Json[] } {
  switch (whole.type) {
    case 'text':
      return {
        start: { type: 'text', text: '' },
        deltas: textDeltas(answer.text).map(text => ({ type: 'text_delta', text })),
      };
    case 'thinking':
      return {
        start: { type: 'thinking', thinking: '', signature: '' },
        deltas: [
          ...textDeltas(whole.thinking).map(thinking => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature: whole.signature },
        ],
      };
    case 'tool_use': {
      const index = Number(whole.id.split('_').at(-1));
      const raw = answer.calls?.[index]?.rawInput ?? JSON.stringify(whole.input);
      return {
        start: { ...whole, input: {} },
        deltas: textDeltas(raw).map(partial_json => ({ type: 'input_json_delta', partial_json })),
      };
    }
  }
}

function readBlock(part: z.infer<typeof block>): WirePart | string {
  switch (part.type) {
    case 'text':
      return part.text === '' ? 'text content blocks must be non-empty' : { kind: 'text', text: part.text };
    case 'thinking':
      return part.signature === SIGNATURE ? { kind: 'thinking' } : 'Invalid `signature` in `thinking` block';
    case 'redacted_thinking':
      return { kind: 'thinking' };
    case 'tool_use':
      return { kind: 'call', id: part.id, tool: part.name };
    case 'tool_result': {
      const text = typeof part.content === 'string' ? part.content : part.content.map(one => one.text).join('\n');
      return { kind: 'result', id: part.tool_use_id, text };
    }
  }
}

function head({ call, model }: AnswerContext) {
  return { id: `msg_${call}`, type: 'message', role: 'assistant', model, stop_sequence: null };
}

function stopReason(answer: ModelAnswer): string {
  if (answer.finish === 'length') return 'max_tokens';
  if (answer.finish === 'refused') return 'refusal';
  return (answer.calls ?? []).length > 0 ? 'tool_use' : 'end_turn';
}

/** Here, input tokens exclude cached ones. */
function usageOf({ usage }: AnswerContext) {
  return {
    input_tokens: usage.input - usage.cached,
    cache_read_input_tokens: usage.cached,
    cache_creation_input_tokens: 0,
    output_tokens: usage.output,
  };
}
