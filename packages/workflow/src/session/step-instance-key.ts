import { err, ok, type Result } from '@signalbox/model';
import * as z from 'zod';
import { delimiterSafeId } from '../compile/compiled-workflow.ts';

/** One iteration of a loop, counted from 0. */
const loopTurn = z.strictObject({ loopId: delimiterSafeId, iteration: z.int().nonnegative() });
export type LoopTurn = Readonly<z.infer<typeof loopTurn>>;

/** A step with its enclosing loops, outermost first. */
export const stepInstance = z.strictObject({ stepId: delimiterSafeId, loopPath: z.array(loopTurn) });
export type StepInstance = { readonly stepId: string; readonly loopPath: readonly LoopTurn[] };

/** `triage`, or `outer@0/inner@2::triage` */
export const stepInstanceKey = z
  .string()
  .refine(value => parseStepInstanceKey(value).ok, 'must be stepId or loop@n/loop@n::stepId')
  .brand<'StepInstanceKey'>();
export type StepInstanceKey = z.infer<typeof stepInstanceKey>;

export function formatStepInstanceKey({ stepId, loopPath }: StepInstance): StepInstanceKey {
  const path = loopPath.map(({ loopId, iteration }) => `${loopId}@${iteration}`).join('/');
  return (path === '' ? stepId : `${path}::${stepId}`) as StepInstanceKey;
}

const TURN = /^([a-z0-9_-]+)@(0|[1-9][0-9]{0,14})$/;

export function parseStepInstanceKey(key: string): Result<StepInstance, string> {
  const parts = key.split('::');
  const stepId = parts.at(-1) ?? '';
  if (parts.length > 2 || !delimiterSafeId.safeParse(stepId).success) return err(`${key} names no step`);
  const loopPath: LoopTurn[] = [];
  for (const turn of parts.length === 1 ? [] : (parts[0] ?? '').split('/')) {
    const match = TURN.exec(turn);
    if (match === null) return err(`${turn} is not loopId@iteration`);
    loopPath.push({ loopId: match[1] ?? '', iteration: Number(match[2]) });
  }
  return ok({ stepId, loopPath });
}
