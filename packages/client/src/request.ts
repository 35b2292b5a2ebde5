import { type ErrorEnvelope, err, errorEnvelope, failure, ok, type Result } from '@signalbox/model';
import type * as z from 'zod';

export type Answer<T> = Promise<Result<T, ErrorEnvelope>>;

/** What a client needs of the platform. */
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

export interface Call<Schema extends z.ZodType> {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: object;
  readonly idempotencyKey?: string | undefined;
  readonly answer: Schema;
  /** A long list in the answer: it is checked in parts, so that whoever draws can draw in between. */
  readonly list?: { readonly name: string; readonly item: z.ZodType };
}

export type Request = <Schema extends z.ZodType>(call: Call<Schema>) => Answer<z.infer<Schema>>;

export const platformFetch: Fetch = (address, init) => globalThis.fetch(address, init);

/** One way to the server: whatever happens comes back as a value or as an envelope. Without a token only a login is answered. */
export function createRequest(url: string, token: string | undefined, fetch: Fetch): Request {
  return async call => {
    const headers: Record<string, string> = {
      Accept: 'application/json',
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    };
    if (call.body !== undefined) headers['Content-Type'] = 'application/json';
    if (call.idempotencyKey !== undefined) headers['Idempotency-Key'] = call.idempotencyKey;
    let status: number;
    let text: string;
    try {
      const answer = await fetch(`${url}${call.path}${queryOf(call.query ?? {})}`, {
        method: call.method,
        headers,
        ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
      });
      ({ status } = answer);
      text = await answer.text();
    } catch {
      return err(unreachable(url, call));
    }
    const value = parsed(text);
    if (status < 200 || status > 299) {
      const error = errorEnvelope.safeParse(value);
      return err(error.success ? (error.data as ErrorEnvelope) : badAnswer(url, `status ${status}, and no envelope`));
    }
    const answer =
      call.list === undefined ? call.answer.safeParse(value) : await checkedInParts(call, call.list, value);
    if (answer.success) return ok(answer.data as z.infer<typeof call.answer>);
    const [issue] = answer.error.issues;
    return err(badAnswer(url, `${issue?.path.map(String).join('.') ?? ''}: ${issue?.message}`));
  };
}

const PART = 500;

/** The same as checking it at once, item by item and the rest around them. */
async function checkedInParts(
  { answer }: Call<z.ZodType>,
  { name, item }: NonNullable<Call<z.ZodType>['list']>,
  value: unknown,
): Promise<z.ZodSafeParseResult<unknown>> {
  const items = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  if (!Array.isArray(items) || items.length <= PART) return answer.safeParse(value);
  const around = answer.safeParse({ ...(value as object), [name]: [] });
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

/** Bytes instead of JSON. */
export function createContentRequest(url: string, token: string, fetch: Fetch): (path: string) => Answer<Uint8Array> {
  return async path => {
    try {
      const answer = await fetch(`${url}${path}`, { method: 'GET', headers: { Authorization: `Bearer ${token}` } });
      if (answer.ok) return ok(new Uint8Array(await answer.arrayBuffer()));
      const error = errorEnvelope.safeParse(parsed(await answer.text()));
      const { status } = answer;
      return err(error.success ? (error.data as ErrorEnvelope) : badAnswer(url, `status ${status}, and no envelope`));
    } catch {
      return err(unreachable(url, { method: 'GET' }));
    }
  };
}

function queryOf(query: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return given.length === 0
    ? ''
    : `?${given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A command that got no answer may have been done: only one with a key of its own can simply be sent again. */
function unreachable(
  url: string,
  { method, idempotencyKey }: Pick<Call<z.ZodType>, 'method' | 'idempotencyKey'>,
): ErrorEnvelope {
  const isRepeatable = method === 'GET' || idempotencyKey !== undefined;
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
