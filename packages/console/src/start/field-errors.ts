import type { ErrorEnvelope } from '@signalbox/model';

const about: ReadonlySet<string> = new Set(['plan/input-invalid', 'VALIDATION_ERROR', 'command/usage']);

/** The field of the input that an error is about, if it says so: servers name the path, then the problem. */
export function fieldErrorOf(
  { code, message }: Pick<ErrorEnvelope, 'code' | 'message'>,
  fields: readonly string[],
): { readonly field: string; readonly why: string } | undefined {
  if (!about.has(code)) return undefined;
  for (const field of fields) {
    const found = new RegExp(`(?:^|[\\s"'.])${RegExp.escape(field)}((?:\\.[\\w$-]+)*)["']?:\\s*([^\\n]+)`).exec(
      message,
    );
    if (found === null) continue;
    const [, below = '', why = ''] = found;
    return { field, why: below === '' ? why : `${below.slice(1)}: ${why}` };
  }
  return undefined;
}
