import { ok, type Result } from '@signalbox/model';
import type * as z from 'zod';
import { type PreferenceBaselines, preferencesAt, projectPreferences } from '../projections/effective-preferences.ts';
import { projectRunDags } from '../projections/run-dag.ts';
import type { DomainEvent } from './domain-event.ts';
import { preferencesChangedData } from './event-data.ts';
import { draftOf, type Place, type SessionPlan } from './event-draft.ts';
import { type AttemptId, type ChangeId, guidedId } from './ids.ts';
import { checkInput, type InvalidInput } from './invalid-input.ts';
import { applyChanges, defaultPreferences, type PreferenceChange } from './preferences.ts';

/** A change of preferences at a place, with the resulting preferences. */
export function planPreferences(
  history: readonly DomainEvent[],
  place: Place,
  change: {
    readonly attemptId: AttemptId;
    readonly source: z.infer<typeof preferencesChangedData>['source'];
    readonly delta: readonly PreferenceChange[];
    readonly baselines?: PreferenceBaselines | undefined;
  },
): Result<SessionPlan, InvalidInput> {
  const { sessionId, runId, nodeId } = place;
  const { attemptId, source, delta, baselines = {} } = change;
  const dag = projectRunDags(history).get(runId);
  const before =
    dag === undefined
      ? (baselines.session ?? baselines.global ?? defaultPreferences)
      : preferencesAt(projectPreferences(history), dag, nodeId, baselines);
  const changeId = guidedId<ChangeId>('change', sessionId, nodeId, attemptId);
  const data = checkInput(
    preferencesChangedData,
    { changeId, source, delta, effective: applyChanges(before, delta) },
    'preferences',
  );
  if (!data.ok) return data;
  const draft = draftOf({ sessionId, kind: 'preferences_changed', scope: { runId, nodeId }, data: data.value });
  return ok({ snapshots: [], plan: { events: [draft] } });
}
