import type { ErrorCode, ErrorDomain, ErrorEnvelope } from '@signalbox/model';

export type ErrorStatus = 400 | 401 | 403 | 404 | 409 | 413 | 415 | 422 | 500 | 503;

/** The HTTP status of an error. The envelope says what happened; the status is for proxies and clients that know only HTTP. */
export function errorStatus({ code }: ErrorEnvelope): ErrorStatus {
  return statuses[code] ?? byDomain[code.slice(0, code.indexOf('/')) as ErrorDomain] ?? 500;
}

const statuses: Partial<Record<ErrorCode, ErrorStatus>> = {
  VALIDATION_ERROR: 400,
  'command/usage': 400,
  'request/unauthorized': 401,
  'request/forbidden': 403,
  'request/unknown-route': 404,
  'request/unknown-session': 404,
  'request/too-large': 413,
  'request/too-many': 503,
  'request/not-json': 415,
  'plan/place-refused': 403,
  'run/foreign-plan': 403,
  'run/unknown': 404,
  'run/frame-unknown': 404,
  'run/node-unknown': 404,
  'run/task-unknown': 404,
  'run/signal-unknown': 404,
  'run/signal-invalid': 422,
  'session/unknown': 404,
  'workflow/unknown': 404,
  'workflow/invalid': 422,
  'workflow/changed': 409,
  'decision/unknown': 404,
  'agent/unknown': 404,
  'agent/not-installed': 409,
  'agent/busy': 409,
  'fleet/agent-unknown': 404,
  'fleet/issue-unknown': 404,
  'fleet/brake-unknown': 404,
  'fleet/plugin-unknown': 422,
  'fleet/brief-invalid': 422,
  'fleet/answer-unfit': 422,
  'artifact/unknown': 404,
  'user/invalid': 400,
  'user/taken': 409,
  'user/unknown': 404,
  'recovery/unknown': 404,
  'recovery/open': 409,
  'workspace/none': 404,
  'state/checkpoint-unknown': 404,
  'state/conflict': 409,
  'state/fork-failed': 409,
  'state/nothing-to-undo': 409,
  'state/root-replaced': 409,
  'store/owned': 503,
  'store/held': 503,
  'store/ending': 503,
  SESSION_LOCKED: 503,
  BUNDLE_INVALID_FORMAT: 400,
  BUNDLE_UNSUPPORTED_VERSION: 400,
  BUNDLE_INTEGRITY_FAILED: 400,
  BUNDLE_MISSING_SNAPSHOT: 400,
  BUNDLE_MISSING_PINNED_WORKFLOW: 400,
  BUNDLE_EVENT_ORDER_INVALID: 400,
  BUNDLE_MANIFEST_ORDER_INVALID: 400,
};

/** Refusals by a run or a decision are conflicts with its current state; a broken plan is the caller's fault. */
const byDomain: Partial<Record<ErrorDomain, ErrorStatus>> = { run: 409, decision: 409, fleet: 409, plan: 422 };
