import path from 'node:path';
import { type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';
import { DEFAULT_RETENTION, type RetentionPolicy, retentionPolicy } from '@signalbox/runs';
import { CONFIG_FILE, readConfigPart } from '../settings/config-file.ts';

/** How long the runs of a data directory are kept. An invalid file is an error: nothing is guessed. */
export function readRetention(dataDirectory: string): Result<RetentionPolicy, ErrorEnvelope<'VALIDATION_ERROR'>> {
  const policy = readConfigPart(dataDirectory, 'retention', retentionPolicy);
  if (policy.ok) return ok(policy.value ?? DEFAULT_RETENTION);
  return err(unusable(path.join(dataDirectory, CONFIG_FILE), policy.error));
}

function unusable(file: string, why: string): ErrorEnvelope<'VALIDATION_ERROR'> {
  return failure('VALIDATION_ERROR', {
    message: `The configuration ${file} cannot be used: ${why}.`,
    suggestion:
      'Correct it, for example {"retention": {"collapseAfterDays": 30, "removeAfterDays": 90}}, or remove it.',
  });
}
