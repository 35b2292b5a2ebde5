import { invalid } from '@signalbox/app/all-runs';
import { type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';
import type { Context } from 'hono';
import type * as z from 'zod';
import { bodyText } from './body-text.ts';
import { errorStatus } from './error-status.ts';

export { invalid };

export function refuse(context: Context, error: ErrorEnvelope): Response {
  const status = errorStatus(error);
  if (status === 401) context.header('WWW-Authenticate', 'Bearer');
  return context.json(error, status);
}

/** The query of a request. Unknown and repeated names are refused. */
export function readQuery<Schema extends z.ZodType>(
  context: Context,
  schema: Schema,
): Result<z.infer<Schema>, ErrorEnvelope> {
  const given = Object.entries(context.req.queries());
  const twice = given.find(([, values]) => values.length > 1)?.[0];
  if (twice !== undefined) return err(invalid(`the query has ${twice} more than once`));
  return checked(schema, Object.fromEntries(given.map(([name, [value]]) => [name, value])), 'query');
}

/** The JSON body of a request; an absent body is an empty object. */
export async function readBody<Schema extends z.ZodType>(
  context: Context,
  schema: Schema,
): Promise<Result<z.infer<Schema>, ErrorEnvelope>> {
  const read = await bodyText(context.req.raw);
  if (!read.ok) return read;
  const text = read.value;
  if (text === '') return checked(schema, {}, 'body');
  const type = context.req.header('content-type') ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    return err(
      failure('request/not-json', {
        message: 'A request body must be JSON, with a matching content type.',
        suggestion: 'Send the header "Content-Type: application/json".',
      }),
    );
  }
  try {
    return checked(schema, JSON.parse(text), 'body');
  } catch {
    return err(invalid('the body is not JSON'));
  }
}

function checked<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  part: 'body' | 'query',
): Result<z.infer<Schema>, ErrorEnvelope> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return ok(parsed.data);
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? '' : ` at ${issue.path.map(String).join('.')}`;
  return err(invalid(`the ${part} is invalid${where}: ${issue?.message}`));
}
