import type { RunId } from '@signalbox/model';
import { type Decision, eventsBefore, everyRun, type RunReader, type RunRecord } from '@signalbox/runs';
import { limitOf, raisedLimit, whyNotRaised } from '../decisions/limit-decisions.ts';
import { isInterrupted } from './interrupted-runs.ts';
import type { RunHost } from './run-host.ts';

/**
 * Resumes every run that an earlier owner left behind when it died, or paused when it ended, and every waiting run that was answered
 * meanwhile. A run whose limit a person did not raise is stopped. Returns the ids of those that go on.
 */
export async function takeUp({
  reader,
  resume,
  act,
}: Pick<RunHost, 'reader' | 'resume' | 'act'>): Promise<readonly RunId[]> {
  const left: { readonly run: RunId; readonly denied: Decision | undefined }[] = [];
  // The whole list first: resuming a run changes its status, and with it the pages.
  for await (const run of everyRun(reader, { status: ['running', 'queued', 'paused', 'waiting'] })) {
    if (run.origin?.kind === 'sub-plan') continue;
    if (run.status === 'paused' && !isInterrupted(run) && !(await wasPausedAtEnd(reader, run))) continue;
    const answers = await lateAnswers(reader, run.id);
    if (run.status === 'waiting' && answers.length === 0) continue;
    left.push({ run: run.id, denied: answers.find(isDeniedLimit) });
  }
  const takenUp: RunId[] = [];
  for (const { run, denied } of left) {
    if (denied !== undefined) {
      await act(run, { kind: 'stop', reason: whyNotRaised(denied) }, denied.answeredBy ?? 'signalbox');
    } else if ((await resume(run)).ok) takenUp.push(run);
  }
  return takenUp;
}

/** Answers that the nodes of a run and of its sub-plans have not taken yet. */
async function lateAnswers(reader: RunReader, run: RunId): Promise<readonly Decision[]> {
  const answered = await reader.decisions({ run, status: ['answered'] });
  const late = answered.flatMap(({ decision }) => (decision.deliveredAt === undefined ? [decision] : []));
  for (const child of await reader.children(run)) {
    if (child.origin?.kind === 'sub-plan') late.push(...(await lateAnswers(reader, child.id)));
  }
  return late;
}

function isDeniedLimit(decision: Decision): boolean {
  return limitOf(decision) !== undefined && raisedLimit(decision) === undefined;
}

/** Whether its owner paused it, not a person: the last pause says who. */
async function wasPausedAtEnd(reader: RunReader, { id, nextSeq }: RunRecord): Promise<boolean> {
  for await (const event of eventsBefore(reader, id, nextSeq)) {
    if (event.type === 'operator.acted') return event.action === 'pause' && event.by === 'signalbox';
  }
  return false;
}
