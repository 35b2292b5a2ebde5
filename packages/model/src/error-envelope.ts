import * as z from 'zod';
import { Bug } from './bug.ts';
import { type Json, json } from './json.ts';

/**
 * Every code that a surface can answer with, by domain. The sets are closed: a new code is a line here. Codes that a
 * specification fixes keep its spelling; ours are `domain/what`.
 */
export const errorCodes = {
  session: ['SESSION_LOCKED', 'SESSION_CORRUPT', 'SESSION_UNKNOWN_VERSION'],
  store: [
    'STORE_IO_FAILED',
    'STORE_LOCK_UNUSABLE',
    'STORE_PLAN_INVALID',
    'STORE_DEDUPE_CONFLICT',
    'STORE_SNAPSHOT_MISSING',
    'STORE_SNAPSHOT_CORRUPT',
  ],
  token: [
    'TOKEN_INVALID_FORMAT',
    'TOKEN_UNSUPPORTED_VERSION',
    'TOKEN_BAD_SIGNATURE',
    'TOKEN_SCOPE_MISMATCH',
    'TOKEN_UNKNOWN_NODE',
    'TOKEN_WORKFLOW_HASH_MISMATCH',
    'TOKEN_SESSION_LOCKED',
  ],
  bundle: [
    'BUNDLE_INVALID_FORMAT',
    'BUNDLE_UNSUPPORTED_VERSION',
    'BUNDLE_INTEGRITY_FAILED',
    'BUNDLE_MISSING_SNAPSHOT',
    'BUNDLE_MISSING_PINNED_WORKFLOW',
    'BUNDLE_EVENT_ORDER_INVALID',
    'BUNDLE_MANIFEST_ORDER_INVALID',
  ],
  input: ['VALIDATION_ERROR'],
  run: ['run/not-a-graph'],
  command: ['command/usage', 'command/not-a-journal', 'command/unexpected'],
} as const;

export type ErrorDomain = keyof typeof errorCodes;
export type ErrorCode = { [D in ErrorDomain]: (typeof errorCodes)[D][number] }[ErrorDomain];

export const retry = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('not_retryable') }),
  z.strictObject({ kind: z.literal('retryable_immediate') }),
  z.strictObject({ kind: z.literal('retryable_after_ms'), afterMs: z.int().nonnegative() }),
]);
export type Retry = z.infer<typeof retry>;

/** The same failure has the same details on every machine and at every time. */
const details = json.refine(value => machineFact(value) === undefined, 'details hold no paths and no times');

/** The one shape of an error, on every surface. */
export const errorEnvelope = z.strictObject({
  code: z.enum(Object.values(errorCodes).flat()),
  message: z.string().min(1),
  retry,
  suggestion: z.string().min(1),
  details: details.optional(),
});

export interface ErrorEnvelope<Code extends ErrorCode = ErrorCode> {
  readonly code: Code;
  /** What failed, which id, and why. */
  readonly message: string;
  readonly retry: Retry;
  /** What to do next. */
  readonly suggestion: string;
  readonly details?: Json;
}

export function failure<Code extends ErrorCode>(
  code: Code,
  text: { readonly message: string; readonly suggestion: string; readonly retry?: Retry; readonly details?: Json },
): ErrorEnvelope<Code> {
  const fact = machineFact(text.details);
  if (fact !== undefined) throw new Bug(`details of ${code} hold a path or a time: ${fact}`);
  return { code, ...text, retry: text.retry ?? { kind: 'not_retryable' } };
}

const PATH_OR_TIME = /^(\/|~\/|[A-Za-z]:[\\/]|file:)|^\d{4}-\d\d-\d\dT\d\d:\d\d/;

function machineFact(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return PATH_OR_TIME.test(value) ? value : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const part of Object.values(value)) {
    const fact = machineFact(part);
    if (fact !== undefined) return fact;
  }
  return undefined;
}
