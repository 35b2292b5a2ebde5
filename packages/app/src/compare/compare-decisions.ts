import type { DecisionPair, Resolution } from '@signalbox/model';
import type { Decision, RunReader, RunRecord } from '@signalbox/runs';

/** The decisions of both runs that were answered differently, or that only one of them has. Calls have names of their own in each run: what counts is which question of its node it is. */
export async function compareDecisions(
  reader: RunReader,
  a: RunRecord,
  b: RunRecord,
): Promise<readonly DecisionPair[]> {
  const [left, right] = [await questionsOf(reader, a), await questionsOf(reader, b)];
  return [...new Set([...left.keys(), ...right.keys()])].flatMap((question): readonly DecisionPair[] => {
    const [one, other] = [left.get(question), right.get(question)];
    const asked = one ?? other;
    if (asked === undefined) return [];
    const [x, y] = [one && answerOf(one), other && answerOf(other)];
    if (JSON.stringify(x && { ...x, by: '' }) === JSON.stringify(y && { ...y, by: '' })) return [];
    return [{ node: asked.node, kind: asked.kind, ...(x && { a: x }), ...(y && { b: y }) }];
  });
}

async function questionsOf(reader: RunReader, { id }: RunRecord): Promise<ReadonlyMap<string, Decision>> {
  const counts = new Map<string, number>();
  return new Map(
    (await reader.decisions({ run: id })).map(({ decision }) => {
      const place = `${decision.node} ${decision.iteration} ${decision.kind}`;
      const nth = counts.get(place) ?? 0;
      counts.set(place, nth + 1);
      return [`${place} ${nth}`, decision];
    }),
  );
}

function answerOf({ status, resolution, answeredBy }: Decision): NonNullable<DecisionPair['a']> {
  const reason = resolution?.rationale;
  return {
    status,
    ...(resolution !== undefined && { answer: answerWords(resolution) }),
    ...(answeredBy !== undefined && { by: answeredBy }),
    ...(reason !== undefined && reason !== '' && { reason }),
  };
}

function answerWords(resolution: Resolution): string {
  return 'chosenOptionId' in resolution && typeof resolution.chosenOptionId === 'string'
    ? resolution.chosenOptionId
    : resolution.resolutionType;
}
