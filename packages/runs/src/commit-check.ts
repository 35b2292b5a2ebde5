import { err, failure, ok, type Result } from '@signalbox/model';
import * as z from 'zod';
import { toDotPath } from 'zod/v4/core';
import { type CommitError, type Guard, guard as guardSchema, type WriteSet, writeSet } from './commit.ts';
import { isKnownGood } from './commit-fast-check.ts';

/** Validates a commit against its schemas: plain data only. */
export function checkCommit(
  writes: WriteSet,
  guard: Guard,
): Result<{ readonly writes: WriteSet; readonly guard: Guard }, CommitError> {
  if (isKnownGood(writes, guard)) return ok({ writes, guard });
  const parsed = commitSchema.safeParse({ writes, guard });
  if (parsed.success) return ok(parsed.data);
  const [issue] = parsed.error.issues;
  const place = issue === undefined ? '' : toDotPath(issue.path);
  return err(
    failure('VALIDATION_ERROR', {
      message: `The commit is not valid at ${place}: ${issue?.message ?? 'unknown'}.`,
      suggestion: 'Send plain data that the schemas of write sets allow.',
      details: { place },
    }),
  );
}

const commitSchema = z.strictObject({ writes: writeSet, guard: guardSchema });
