import type { Json } from '@signalbox/model';

export function bearerMissing(headers: Readonly<Record<string, string>>): string | undefined {
  if (/^Bearer \S+$/.test(headers.authorization ?? '')) return undefined;
  return "You didn't provide an API key.";
}

const errorTypes: Readonly<Record<number, readonly [type: string, code: string | null]>> = {
  400: ['invalid_request_error', null],
  401: ['invalid_request_error', 'invalid_api_key'],
  404: ['invalid_request_error', 'not_found'],
  429: ['rate_limit_error', 'rate_limit_exceeded'],
};

export function openaiRefusal(status: number, message: string): Json {
  const [type, code] = errorTypes[status] ?? ['server_error', null];
  return { error: { message, type, param: null, code } };
}
