import { type Timestamp, timerDue } from '@signalbox/model';
import type { RunReader, RunRecord, Task } from '@signalbox/runs';

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
  const tasks = known ?? (await reader.tasks(id, { status: ['pending', 'running', 'canceling'] }));
  const dues = tasks.flatMap(({ blockReason }) => timerDue(blockReason) ?? []);
  for (const task of tasks.filter(({ status }) => status !== 'pending')) {
    // Work is running, unless it is a sub-plan that only waits itself.
    const child = (await reader.children(id)).find(
      ({ origin, status }) => origin?.kind === 'sub-plan' && origin.node === task.node && status === 'running',
    );
    const due = child && (await timerWait(reader, child));
    if (due === undefined) return undefined;
    dues.push(due);
  }
  return dues.sort()[0];
}
