import { ok, type Result, type SessionId } from '@signalbox/model';
import type * as z from 'zod';
import { type DomainEvent, dedupeKeyOf, type EventFacts } from './domain-event.ts';
import { observationRecordedData } from './event-data.ts';
import { checkInput, type InvalidInput } from './invalid-input.ts';

export type Observed = Readonly<z.infer<typeof observationRecordedData>>;

/** Observations that are not recorded yet. */
export function newObservations(
  sessionId: SessionId,
  history: readonly DomainEvent[],
  observed: readonly Observed[],
): Result<readonly EventFacts[], InvalidInput> {
  const known = new Set<string>(history.map(event => event.dedupeKey));
  const facts: EventFacts[] = [];
  for (const observation of observed) {
    const data = checkInput(observationRecordedData, observation, 'observation');
    if (!data.ok) return data;
    const fact: EventFacts = { sessionId, kind: 'observation_recorded', data: data.value };
    const key = dedupeKeyOf(fact);
    if (known.has(key)) continue;
    known.add(key);
    facts.push(fact);
  }
  return ok(facts);
}
