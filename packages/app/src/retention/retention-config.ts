import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';
import { DEFAULT_RETENTION, type RetentionPolicy, retentionPolicy } from '@signalbox/runs';
import * as z from 'zod';

/** What a data directory is set to, beside its data. Other parts of the file are for others. */
const config = z.looseObject({ retention: retentionPolicy.optional() });

export const CONFIG_FILE = 'config.json';

/** How long the runs of a data directory are kept. A file that cannot be understood is an error: nothing is guessed. */
export function readRetention(dataDirectory: string): Result<RetentionPolicy, ErrorEnvelope<'VALIDATION_ERROR'>> {
  const file = path.join(dataDirectory, CONFIG_FILE);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    return code === 'ENOENT' ? ok(DEFAULT_RETENTION) : err(unusable(file, `it cannot be read (${code})`));
  }
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return err(unusable(file, 'it is not JSON'));
  }
  const parsed = config.safeParse(given);
  if (parsed.success) return ok(parsed.data.retention ?? DEFAULT_RETENTION);
  const [issue] = parsed.error.issues;
  return err(unusable(file, `${issue?.path.join('.')}: ${issue?.message}`));
}

function unusable(file: string, why: string): ErrorEnvelope<'VALIDATION_ERROR'> {
  return failure('VALIDATION_ERROR', {
    message: `The configuration ${file} cannot be used: ${why}.`,
    suggestion: 'Correct it, such as: {"retention": {"collapseAfterDays": 30, "removeAfterDays": 90}}, or remove it.',
  });
}
