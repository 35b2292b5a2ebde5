import { approvalId, type ErrorEnvelope, err, ok, type Result } from '@signalbox/model';
import type { DecisionOfRun, RunReader } from '@signalbox/runs';
import { unknownDecision } from '../decisions/answer-fit.ts';

/** The decision that an id, or the beginning of one that only one open decision has, names. */
export async function findDecision(reader: RunReader, given: string): Promise<Result<DecisionOfRun, ErrorEnvelope>> {
  const whole = approvalId.safeParse(given);
  const named = whole.success ? await reader.decision(whole.data) : undefined;
  if (named !== undefined) return ok(named);
  const open = await reader.decisions({ status: ['open'] });
  const [first, second] = open.filter(({ decision }) => decision.id.startsWith(given));
  return first !== undefined && second === undefined ? ok(first) : err(unknownDecision(given));
}
