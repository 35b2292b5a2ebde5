import {
  type AnswerOf,
  answers,
  type ErrorEnvelope,
  err,
  errorEnvelope,
  failure,
  type Operation,
  type OperationName,
  ok,
  operations,
  parsedJson,
  type Result,
  treeNode,
} from '@signalbox/model';
import type * as z from 'zod';

export type Answer<T> = Promise<Result<T, ErrorEnvelope>>;

/** The part of `fetch` that a client needs. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchAnswer>;

interface FetchInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
}

interface FetchAnswer {
  readonly ok: boolean;
  readonly status: number;
  text(): Promise<string>;
  arrayBuffer(): Promise<ArrayBuffer>;
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly query?: object | undefined;
  readonly body?: object | undefined;
  readonly idempotencyKey?: string;
}

export type Request = <Name extends OperationName>(name: Name, call: Call) => Answer<AnswerOf<Name>>;

export const platformFetch: Fetch = (address, init) => globalThis.fetch(address, init);

/** Sends requests to the server: every outcome is a value or an envelope. Without a token only a login is answered. */
export function createRequest(url: string, token: string | undefined, fetch: Fetch): Request {
  return async <Name extends OperationName>(name: Name, call: Call): Answer<AnswerOf<Name>> => {
    const { method, path, query = {}, body, idempotencyKey } = call;
    const { answer }: Operation = operations[name];
    const headers: Record<string, string> = {
      ...(answer !== 'bytes' && { Accept: 'application/json' }),
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    };
    let status: number;
    let text: string;
    try {
      const sent = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
      const answered = await fetch(`${url}${path}${queryOf(query)}`, sent);
      if (answer === 'bytes' && answered.ok) {
        return ok(new Uint8Array(await answered.arrayBuffer()) as AnswerOf<Name>);
      }
      ({ status } = answered);
      text = await answered.text();
    } catch (thrown) {
      return err(unreachable(url, call, wasRefused(thrown)));
    }
    const value = parsedJson(text);
    if (status < 200 || status > 299 || answer === undefined || answer === 'bytes') {
      const error = errorEnvelope.safeParse(value);
      return err(error.success ? (error.data as ErrorEnvelope) : badAnswer(url, `status ${status}, and no envelope`));
    }
    const checked = await checkedInParts(answer, value);
    if (checked.success) return ok(checked.data as AnswerOf<Name>);
    const [issue] = checked.error.issues;
    return err(badAnswer(url, `${issue?.path.map(String).join('.') ?? ''}: ${issue?.message}`));
  };
}

const PART = 500;

/** Responses with a long list: it is checked in parts, so that a page can draw in between. */
const longLists: Partial<Record<keyof typeof answers, { readonly name: string; readonly item: z.ZodType }>> = {
  FrameTree: { name: 'tree', item: treeNode },
};

/** Equivalent to checking it at once: item by item, then the rest. */
async function checkedInParts(answer: keyof typeof answers, value: unknown): Promise<z.ZodSafeParseResult<unknown>> {
  const schema: z.ZodType = answers[answer];
  const { name = '', item } = longLists[answer] ?? {};
  const items = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  if (item === undefined || !Array.isArray(items) || items.length <= PART) return schema.safeParse(value);
  const around = schema.safeParse({ ...(value as object), [name]: [] });
  if (!around.success) return around;
  const checked: unknown[] = [];
  for (let from = 0; from < items.length; from += PART) {
    const part = item.array().safeParse(items.slice(from, from + PART));
    if (!part.success) return part;
    checked.push(...part.data);
    await new Promise<void>(resolve => setTimeout(resolve));
  }
  return { success: true, data: { ...(around.data as object), [name]: checked } };
}

/** Lists come last, each as comma-separated text. */
function queryOf(query: object): string {
  const given = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .toSorted(([, a], [, b]) => Number(Array.isArray(a)) - Number(Array.isArray(b)));
  return given.length === 0
    ? ''
    : `?${given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')}`;
}

/** Whether nobody listened, so that nothing was sent. Browsers do not say. */
function wasRefused(thrown: unknown): boolean {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  return typeof cause === 'object' && cause !== null && 'code' in cause && cause.code === 'ECONNREFUSED';
}

/** A command without a response may have been executed, unless it was never sent: only one with an idempotency key can simply be sent again. */
function unreachable(url: string, { method, idempotencyKey }: Call, isUnsent: boolean): ErrorEnvelope {
  const isRepeatable = isUnsent || method === 'GET' || idempotencyKey !== undefined;
  return failure('request/unreachable', {
    message: `The server at ${url} did not answer.${isRepeatable ? '' : ' Whether it did what was asked is not known.'}`,
    suggestion: isRepeatable
      ? 'See whether "signalbox serve" runs, and try again.'
      : 'See whether "signalbox serve" runs, and look at the run before you ask again.',
    retry: isRepeatable ? { kind: 'retryable_after_ms', afterMs: 1_000 } : { kind: 'not_retryable' },
  });
}

function badAnswer(url: string, why: string): ErrorEnvelope {
  return failure('request/bad-answer', {
    message: `The answer from ${url} was not understood: ${why}.`,
    suggestion: 'See whether it is a Signalbox server, and of the same version.',
  });
}
