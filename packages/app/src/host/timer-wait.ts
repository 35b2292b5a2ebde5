import { type Timestamp, timerDue } from '@signalbox/model';
import { isTaskUnderWay, type RunReader, type RunRecord, type Task } from '@signalbox/runs';

/**
 * The time that a run waits for, the first of its timers; undefined if anything else in it is active. Such a run is running (R2): nobody
 * has to act, and it continues on its own wherever it is driven.
 */
export async function timerWait(
  reader: Pick<RunReader, 'tasks' | 'children'>,
  { id, status }: Pick<RunRecord, 'id' | 'status'>,
  known?: readonly Task[],
): Promise<Timestamp | undefined> {
  if (status !== 'running') return undefined;
  const isUnder = (task: Task) => isTaskUnderWay(task.status);
  const under = known?.filter(isUnder) ?? (await reader.tasks(id, { status: ['running', 'canceling'] }));
  const dues: Timestamp[] = [];
  for (const task of under) {
    // Work is running, unless it is a sub-plan that only waits itself.
    const child = (await reader.children(id)).find(
      ({ origin, status }) => origin?.kind === 'sub-plan' && origin.node === task.node && status === 'running',
    );
    const due = child && (await timerWait(reader, child));
    if (due === undefined) return undefined;
    dues.push(due);
  }
  // Asked last: finding them takes the longer the more tasks a run has, and most runs that are watched work.
  const pending = known?.filter(task => !isUnder(task)) ?? (await reader.tasks(id, { status: ['pending'] }));
  const own = [...under, ...pending].flatMap(({ blockReason }) => timerDue(blockReason) ?? []);
  return [...dues, ...own].sort()[0];
}
