import type { ErrorEnvelope } from '@signalbox/model';

/** A refusal or failure, thrown: what happened, to what, and what to do next. */
export class SignalboxError extends Error {
  override readonly name = 'SignalboxError';
  readonly code: string;
  /** What to do next. */
  readonly suggestion: string;
  readonly retry: ErrorEnvelope['retry'];
  readonly details: ErrorEnvelope['details'];

  constructor({ code, message, suggestion, retry, details }: ErrorEnvelope) {
    super(message);
    this.code = code;
    this.suggestion = suggestion;
    this.retry = retry;
    this.details = details;
  }
}
