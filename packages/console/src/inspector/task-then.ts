import type { WireTask } from '@signalbox/model';

/** The tasks as they were at a time: those that had started, without what came later. */
export function tasksThen(tasks: readonly WireTask[], until: string): readonly WireTask[] {
  return tasks.flatMap(task => {
    if ((task.startedAt ?? task.createdAt) >= until) return [];
    if (task.endedAt === undefined || task.endedAt < until) return [task];
    const { endedAt: _, result: __, lastError: ___, nextRetryAt: ____, ...then } = task;
    return [{ ...then, status: 'running' as const }];
  });
}
