import path from 'node:path';
import { type ErrorEnvelope, err, ok, type Result, timestampOf } from '@signalbox/model';
import { isSamePlan, type RunRecord } from '@signalbox/runs';
import type { Answers } from './answers.ts';
import type { DrivenRuns } from './driven-runs.ts';
import { inheritedPlace } from './inherited-place.ts';
import type { HostBase } from './open-run-host.ts';
import { changesSince, keepPlan, keptPlan, noSource } from './plan-files.ts';
import { planLost } from './plan-lost.ts';
import type { Raise } from './raise-limits.ts';
import { draftEvent } from './run-events.ts';
import { alreadyCompleted, alreadyDriven, unknownRun } from './run-failures.ts';
import type { RunHost } from './run-host.ts';

export interface ResumePorts {
  readonly raise: Raise;
  readonly answers: Pick<Answers, 'deliverLate'>;
}

/** Resumes runs that nothing drives. */
export function createResume(base: HostBase, runs: DrivenRuns, { raise, answers }: ResumePorts): RunHost['resume'] {
  const { store, machine, threads, places, trust } = base;

  const resume: RunHost['resume'] = async (run, request = {}) => {
    const { useCurrent = false, anyFile = false, limits = {}, by } = request;
    const known = await store.run(run);
    if (known?.status === 'completed') return err(alreadyCompleted(run));
    if (known !== undefined) threads.readValues(run, path.join(base.options.dataDirectory, 'db.sqlite'));
    const trusted = known === undefined ? ok(undefined) : await trust(known, request.trust, by);
    if (!trusted.ok) return trusted;
    if (known !== undefined && Object.keys(limits).length > 0) {
      const raised = await raise(run, limits, by ?? 'signalbox');
      if (!raised.ok) return raised;
      // It is already running, and continues with the new limits.
      if (raised.value === 'driven') return ok(run);
    }
    if (runs.finished(run) !== undefined) return err(alreadyDriven(run));
    const record = await store.run(run);
    if (record === undefined) return err(unknownRun(run));
    if (record.origin?.kind === 'sub-plan') return resume(record.origin.run, { useCurrent, anyFile, by });
    // A run that was driven here and resumes on its own was already allowed.
    const isAllowed = by === undefined && record.owner !== undefined;
    const worksIn = isAllowed ? ok(undefined) : await inheritedPlace(store, record, base.allowedDirectory({ anyFile }));
    if (!worksIn.ok) return worksIn;
    const late = await answers.deliverLate(run);
    if (!late.ok) return late;
    const version = useCurrent ? await currentPlan(record, anyFile) : ok(record.source);
    if (!version.ok) return version;
    const source = await keptPlan(store, { id: run, source: version.value });
    if (!source.ok) return source;
    const changed = await changesSince(record);
    if (by !== undefined && runs.finished(run) === undefined) {
      const event = draftEvent(machine, 'operator.acted', { action: 'resume', by });
      const told = await store.commit({ at: timestampOf(machine.clock), events: [event] }, { run, version: 'any' });
      if (!told.ok) return err(told.error);
    }
    // It may have been resumed while the files were read.
    if (runs.finished(run) !== undefined) return err(alreadyDriven(run));
    await runs.begin(run, { source: source.value, record: { ...record, source: version.value }, changed });
    return ok(run);
  };
  return resume;

  /** The plan's current files, stored: a new version, unless they are unchanged. */
  async function currentPlan(
    { id, source, input }: RunRecord,
    anyFile: boolean,
  ): Promise<Result<RunRecord['source'], ErrorEnvelope>> {
    if (source === undefined) return err(noSource(id));
    const found = anyFile ? ok(source.entry) : places.find(source.entry);
    if (!found.ok) return found;
    const loaded = await threads.load({ kind: 'file', file: found.value, isPlace: !anyFile }, input);
    if ('status' in loaded) return err(planLost(source.entry, loaded.reason));
    if (!loaded.ok) return loaded;
    const current = await keepPlan(store, loaded.value.closure);
    return current.ok && isSamePlan(source, current.value) ? ok(source) : current;
  }
}
