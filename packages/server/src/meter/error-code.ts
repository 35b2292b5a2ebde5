/** The system's name of a connection error, such as ECONNREFUSED. Its message may name an address. */
export function errorCode(cause: unknown): string {
  const { code } = (cause ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' ? code : 'unknown';
}
