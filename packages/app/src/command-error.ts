import { type ErrorEnvelope, failure, thrownText } from '@signalbox/model';

export { thrownStack } from '@signalbox/model';

/** The error of an invalid call: the caller fixes it and calls again. */
export function usageError(message: string, suggestion: string): ErrorEnvelope<'command/usage'> {
  return failure('command/usage', { message, suggestion });
}

/** The answer to an exception in the outermost function: a `Bug`, or an unforeseen fault. */
export function unexpectedError(thrown: unknown): ErrorEnvelope<'command/unexpected'> {
  const said = thrownText(thrown);
  return failure('command/unexpected', {
    message: `Signalbox hit an internal error: ${said}.`,
    suggestion: 'Nothing that was acknowledged is lost. Please report this, with the output of "signalbox doctor".',
  });
}
