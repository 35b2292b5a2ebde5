import { type ErrorEnvelope, failure, thrownText } from '@signalbox/model';

export { thrownStack } from '@signalbox/model';

/** A call that cannot be made as it was given: the caller changes it and calls again. */
export function usageError(message: string, suggestion: string): ErrorEnvelope<'command/usage'> {
  return failure('command/usage', { message, suggestion });
}

/** What a program answers when something was thrown to its outermost function: a `Bug`, or a fault nobody foresaw. */
export function unexpectedError(thrown: unknown): ErrorEnvelope<'command/unexpected'> {
  const said = thrownText(thrown);
  return failure('command/unexpected', {
    message: `Signalbox hit an internal error: ${said}.`,
    suggestion: 'Nothing that was acknowledged is lost. Please report this, with the output of "signalbox doctor".',
  });
}
