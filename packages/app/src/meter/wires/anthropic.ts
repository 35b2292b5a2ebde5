import { count, known, most, name, objectAt, type Wire } from './wire.ts';

/** Anthropic's Messages. Its input excludes what was read from a cache or written to one. */
export const anthropic: Wire = {
  call: path => (/\/v1\/messages$/.test(path) ? {} : undefined),
  maxOutput: body => most(body.max_tokens),
  answers: () => 1,
  told(before, data) {
    const message = objectAt(data, 'message') ?? data;
    const usage = objectAt(message, 'usage') ?? objectAt(data, 'usage');
    if (usage === undefined) return before;
    const cached = count(usage.cache_read_input_tokens) ?? before.cached;
    const cacheWrite = count(usage.cache_creation_input_tokens) ?? before.cacheWrite;
    const fresh = count(usage.input_tokens);
    const input = fresh === undefined ? undefined : fresh + (cached ?? 0) + (cacheWrite ?? 0);
    // The first event counts a token or two of what is to come; the last one has the sum.
    const output = count(usage.output_tokens);
    return { ...before, ...known({ model: name(message.model), input, output, cached, cacheWrite }) };
  },
  endMarks: ['"message_stop"', '"error"'],
  isLast: data => typeof data !== 'string' && (data.type === 'message_stop' || data.type === 'error'),
  refusal: (status, message) => ({
    type: 'error',
    error: { type: TYPES[status] ?? 'invalid_request_error', message },
  }),
};

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  502: 'api_error',
};
