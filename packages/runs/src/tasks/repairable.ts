import type { Task } from './task.ts';

/**
 * Whether failed work starts again by itself when its run continues with a corrected plan: the plan's own code failed, in a `Task` or in
 * the schema of an output, and repeating the work does no harm (R17, R37).
 */
export function isRepairable(
  kind: string | undefined,
  { status, effects, lastError }: Pick<Task, 'status' | 'effects' | 'lastError'>,
): boolean {
  if (status !== 'error' || effects === 'external') return false;
  return kind === 'task' || lastError?.code === 'output-invalid';
}
