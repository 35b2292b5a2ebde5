import type { RunId } from '@signalbox/model';
import { eventsBefore, everyRun, type RunReader, type RunRecord } from '@signalbox/runs';
import { isInterrupted } from './interrupted-runs.ts';
import type { RunHost } from './run-host.ts';

/** Resumes every run that an earlier owner left behind when it died, or paused when it ended. Returns their ids. */
export async function takeUp({ reader, resume }: Pick<RunHost, 'reader' | 'resume'>): Promise<readonly RunId[]> {
  const left: RunRecord[] = [];
  // The whole list first: resuming a run changes its status, and with it the pages.
  for await (const run of everyRun(reader, { status: ['running', 'queued', 'paused'] })) {
    if (run.origin?.kind === 'sub-plan') continue;
    if (run.status !== 'paused' || isInterrupted(run) || (await wasPausedAtEnd(reader, run))) left.push(run);
  }
  const takenUp: RunId[] = [];
  for (const { id } of left) if ((await resume(id)).ok) takenUp.push(id);
  return takenUp;
}

/** Whether its owner paused it, not a person: the last pause says who. */
async function wasPausedAtEnd(reader: RunReader, { id, nextSeq }: RunRecord): Promise<boolean> {
  for await (const event of eventsBefore(reader, id, nextSeq)) {
    if (event.type === 'operator.acted') return event.action === 'pause' && event.by === 'signalbox';
  }
  return false;
}
