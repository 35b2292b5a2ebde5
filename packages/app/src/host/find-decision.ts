import { approvalId, type ErrorEnvelope, err, namesId, ok, type Result } from '@signalbox/model';
import type { DecisionOfRun, RunReader } from '@signalbox/runs';
import { unknownDecision } from '../decisions/answer-fit.ts';

/** The decision with an id, or with a beginning or end that only one has; open ones take precedence. */
export async function findDecision(reader: RunReader, given: string): Promise<Result<DecisionOfRun, ErrorEnvelope>> {
  const whole = approvalId.safeParse(given);
  const named = whole.success ? await reader.decision(whole.data) : undefined;
  if (named !== undefined) return ok(named);
  // Answered and withdrawn ones are found too: answering them reports that.
  for (const filter of [{ status: ['open'] }, {}] as const) {
    const found = (await reader.decisions(filter)).filter(({ decision }) => namesId(decision.id, given));
    const [first, second] = found;
    if (second !== undefined) return err(unknownDecision(given, found.length));
    if (first !== undefined) return ok(first);
  }
  return err(unknownDecision(given));
}
