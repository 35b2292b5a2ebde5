import * as z from 'zod';
import { canonicalJson, tryCanonicalJson } from './canonical-json.ts';
import { type Json, json } from './json.ts';
import { utf8Length } from './utf8.ts';

/**
 * Every code that a surface can return, by domain. The sets are closed: a new code is a line here. Codes fixed by a
 * specification keep its spelling; ours are `domain/what`.
 */
export const errorCodes = {
  session: [
    'SESSION_LOCKED',
    'SESSION_CORRUPT',
    'SESSION_UNKNOWN_VERSION',
    'SESSION_INVARIANT_VIOLATION',
    'session/unknown',
    'session/holds-secret',
  ],
  store: [
    'STORE_IO_FAILED',
    'STORE_LOCK_UNUSABLE',
    'STORE_PLAN_INVALID',
    'STORE_DEDUPE_CONFLICT',
    'STORE_SNAPSHOT_MISSING',
    'STORE_SNAPSHOT_CORRUPT',
    'STORE_KEYRING_INVALID',
    'store/outcome-unknown',
    'store/held',
    'store/ending',
    'store/unusable',
    'store/not-private',
    'store/newer',
    'store/older',
    'store/missing',
    'store/owned',
    'store/damaged',
    'store/blob-missing',
    'store/blob-corrupt',
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
  run: [
    'run/not-a-graph',
    'run/guided',
    'run/unknown',
    'run/exists',
    'run/duplicate-key',
    'run/stale-epoch',
    'run/stale-version',
    'run/writes-refused',
    'run/ended',
    'run/plan-changed',
    'run/driven',
    'run/node-unknown',
    'run/no-effect',
    'run/signal-unknown',
    'run/signal-invalid',
    'run/thread-lost',
    'run/frame-unknown',
    'run/task-unknown',
    'run/effects-outside',
    'run/unconfirmed',
    'run/foreign-plan',
  ],
  project: ['project/stale', 'project/refused'],
  decision: ['decision/unknown', 'decision/answered', 'decision/withdrawn', 'decision/stale-proposal'],
  state: [
    'state/dispatch-failed',
    'state/slice-unreadable',
    'state/snapshot-malformed',
    'state/snapshot-version',
    'state/slice-unregistered',
    'state/snapshot-mismatch',
    'state/snapshot-failed',
    'state/restore-failed',
    'state/conflict',
    'state/content-missing',
    'state/content-corrupt',
    'state/path-refused',
    'state/file-failed',
    'state/recovery-needed',
    'state/root-replaced',
    'state/checkpoint-unknown',
    'state/checkpoint-unreadable',
    'state/fork-failed',
    'state/nothing-to-undo',
    'state/lock-canceled',
    'state/lock-failed',
    'state/no-layer',
    'state/changes-unknown',
  ],
  tool: [
    'tool/unknown',
    'tool/invalid-input',
    'tool/refused',
    'tool/sandbox-missing',
    'tool/failed',
    'tool/invalid-output',
    'tool/canceled',
    'tool/conflict',
    'tool/deadline',
    'tool/outcome-unknown',
  ],
  plan: [
    'plan/invalid-props',
    'plan/handler-refused',
    'plan/key-missing',
    'plan/duplicate-id',
    'plan/render-failed',
    'plan/render-write',
    'plan/render-task',
    'plan/phase-order',
    'plan/handler-failed',
    'plan/effect-failed',
    'plan/effect-loop',
    'plan/state-invalid',
    'plan/input-invalid',
    'plan/task-failed',
    'plan/storm',
    'plan/load-failed',
    'plan/not-a-plan',
    'plan/lint-refused',
    'plan/file-refused',
    'plan/place-refused',
    'plan/artifact-refused',
  ],
  agent: ['agent/unknown', 'agent/not-installed', 'agent/busy'],
  fleet: [
    'fleet/agent-unknown',
    'fleet/agent-live',
    'fleet/agent-not-live',
    'fleet/braked',
    'fleet/brief-invalid',
    'fleet/plugin-unknown',
    'fleet/issue-unknown',
    'fleet/brake-unknown',
    'fleet/version-conflict',
    'fleet/answer-unfit',
    'fleet/ticks-automatic',
  ],
  artifact: ['artifact/invalid', 'artifact/too-large', 'artifact/unknown'],
  workspace: ['workspace/failed', 'workspace/none'],
  user: ['user/invalid', 'user/taken', 'user/unknown'],
  recovery: ['recovery/unknown', 'recovery/open'],
  workflow: ['workflow/unknown', 'workflow/invalid', 'workflow/changed'],
  request: [
    'request/unauthorized',
    'request/forbidden',
    'request/unknown-route',
    'request/unknown-session',
    'request/too-large',
    'request/too-many',
    'request/not-json',
    'request/unreachable',
    'request/bad-answer',
  ],
  server: ['server/cannot-listen'],
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

/** Canonical UTF-8 bytes of the details of one error. */
export const DETAILS_MAX_BYTES = 8192;

/** Details are small, and the same failure has the same details on every machine at any time. */
const details = json
  .refine(value => !hasMachineFact(value), 'details hold no paths and no times')
  .refine(
    value => utf8Length(canonicalJson(value)) <= DETAILS_MAX_BYTES,
    `details take at most ${DETAILS_MAX_BYTES} bytes`,
  );

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
  readonly details?: Json | undefined;
}

/**
 * Creates an envelope that every surface can show. Details often quote callers, so invalid details are never an error: a text
 * with a path or a time is withheld, and details that are too large or not plain data are omitted.
 */
export function failure<Code extends ErrorCode>(
  code: Code,
  text: { readonly message: string; readonly suggestion: string; readonly retry?: Retry; readonly details?: Json },
): ErrorEnvelope<Code> {
  const envelope = {
    code,
    message: text.message,
    retry: text.retry ?? { kind: 'not_retryable' },
    suggestion: text.suggestion,
  };
  return text.details === undefined ? envelope : { ...envelope, details: presentable(text.details) };
}

function presentable(details: Json): Json {
  const plain = tryCanonicalJson(details);
  if (!plain.ok) return { omitted: plain.error.reason };
  const portable = withoutMachineFacts(details);
  const bytes = utf8Length(canonicalJson(portable));
  return bytes > DETAILS_MAX_BYTES ? { omitted: `${bytes} bytes, more than ${DETAILS_MAX_BYTES}` } : portable;
}

const WITHHELD = '[withheld: a path or a time]';

/** An absolute path (POSIX, home, Windows, UNC, file URL) at the start of a word, or a date with a time. */
const MACHINE_FACT =
  /(?:^|[\s'"`([{<=:;,|])(?:~?\/[^\s/]|[A-Za-z]:[\\/]|\\\\[^\s\\]|file:\/)|\d{4}-\d\d-\d\d[T ]\d\d:\d\d/;

function hasMachineFact(value: Json): boolean {
  if (typeof value === 'string') return MACHINE_FACT.test(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, part]) => MACHINE_FACT.test(key) || hasMachineFact(part));
}

function withoutMachineFacts(value: Json): Json {
  if (typeof value === 'string') return MACHINE_FACT.test(value) ? WITHHELD : value;
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map(withoutMachineFacts);
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [MACHINE_FACT.test(key) ? WITHHELD : key, withoutMachineFacts(part)]),
  );
}

/** `Array.isArray` that also narrows a readonly array. */
function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
