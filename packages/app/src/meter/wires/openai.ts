import type { JsonObject } from '@signalbox/model';
import { count, known, member, most, name, objectAt, type Wire } from './wire.ts';

const refusal = (status: number, message: string): JsonObject => {
  const type = TYPES[status] ?? 'invalid_request_error';
  return { error: { message, type, param: null, code: type } };
};

const TYPES: Readonly<Record<number, string>> = {
  401: 'invalid_api_key',
  402: 'insufficient_quota',
  429: 'insufficient_quota',
  502: 'server_error',
};

const LAST = new Set(['response.completed', 'response.failed', 'response.incomplete', 'error']);

/** OpenAI's Responses. */
export const openaiResponses: Wire = {
  call: path => (/\/responses(?:\/compact)?$/.test(path) ? {} : undefined),
  maxOutput: body => most(body.max_output_tokens),
  answers: () => 1,
  told(before, data) {
    const response = objectAt(data, 'response') ?? data;
    const usage = objectAt(response, 'usage');
    if (usage === undefined) return before;
    return {
      ...before,
      ...known({
        model: name(response.model),
        input: count(usage.input_tokens),
        output: count(usage.output_tokens),
        cached: count(member(usage, 'input_tokens_details', 'cached_tokens')),
        cacheWrite: undefined,
      }),
    };
  },
  endMarks: [...LAST].map(type => `"${type}"`),
  isLast: data => typeof data !== 'string' && LAST.has(String(data.type)),
  refusal,
};

/** OpenAI's Chat Completions, which many others speak. A stream has its usage only if the client asks for it. */
export const openaiChat: Wire = {
  call: path => (/\/chat\/completions$/.test(path) ? {} : undefined),
  maxOutput: body => most(body.max_completion_tokens, body.max_tokens),
  answers: body => most(body.n, body.best_of) ?? 1,
  told(before, data) {
    const usage = objectAt(data, 'usage');
    if (usage === undefined) return before;
    return {
      ...before,
      ...known({
        model: name(data.model),
        input: count(usage.prompt_tokens),
        output: count(usage.completion_tokens),
        cached: count(member(usage, 'prompt_tokens_details', 'cached_tokens')),
        cacheWrite: undefined,
      }),
    };
  },
  endMarks: ['[DONE]'],
  isLast: data => data === '[DONE]',
  refusal,
};
