import { isSamePlan, planVersionOf, type RunRecord, type RunSource } from '@signalbox/runs';

/** The files that a run continues with, if they changed. */
export function newSourceOf(record: RunRecord | undefined, source: RunSource | undefined): RunSource | undefined {
  return record === undefined || source === undefined || isSamePlan(record.source, source) ? undefined : source;
}

/** Whether a run continues with another version of its plan. */
export function isNewVersion(record: RunRecord | undefined, source: RunSource | undefined): boolean {
  return record?.source !== undefined && newSourceOf(record, source) !== undefined;
}

/** The version of its plan that a run continues with, if not the first. */
export function laterVersionOf(
  record: RunRecord | undefined,
  source: RunSource | undefined,
): { readonly planVersion?: number } {
  if (record === undefined) return {};
  const planVersion = planVersionOf(record) + (isNewVersion(record, source) ? 1 : 0);
  return planVersion === 1 ? {} : { planVersion };
}
