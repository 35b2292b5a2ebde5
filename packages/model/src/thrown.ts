/**
 * The message of a thrown value. Anything can be thrown, and even inspecting it may throw: an object without a prototype, a
 * getter, a proxy. These functions never throw.
 */
export function thrownMessage(thrown: unknown): string {
  return told(() => {
    if (typeof thrown !== 'object' || thrown === null || !('message' in thrown)) return String(thrown);
    const { message } = thrown;
    return typeof message === 'string' ? message : String(message);
  });
}

/** The same with the name of the error. */
export function thrownText(thrown: unknown): string {
  return told(() => (thrown instanceof Error ? `${thrown.name}: ${thrownMessage(thrown)}` : thrownMessage(thrown)));
}

/** The same with its stack, if known, for logs. */
export function thrownStack(thrown: unknown): string {
  return told(() => (thrown instanceof Error && typeof thrown.stack === 'string' ? thrown.stack : thrownText(thrown)));
}

const UNSHOWN = 'a value that cannot be shown was thrown';

function told(look: () => string): string {
  try {
    return look();
  } catch {
    return UNSHOWN;
  }
}
