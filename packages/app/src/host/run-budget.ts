import type { Clock, RunId } from '@signalbox/model';
import { type Budgeted, checkStop, type RunReader, type StopVerdict } from '@signalbox/runs';

/** Whether a run may spend more, considering the run and its ancestors. Limits that cannot be counted stop it. */
export async function stopVerdict(reader: RunReader, run: RunId, clock: Clock): Promise<StopVerdict> {
  return checkStop(await budgetPath(reader, run, clock));
}

/** The run and its ancestors, with what they spent. */
export async function budgetPath(reader: RunReader, run: RunId, clock: Clock): Promise<readonly Budgeted[]> {
  const path: Budgeted[] = [];
  for (let next: RunId | undefined = run; next !== undefined; ) {
    const record = await reader.run(next);
    if (record === undefined) break;
    const { id, limits, origin, startedAt } = record;
    const isLimited = Object.keys(limits).length > 0;
    path.push({
      run: id,
      limits,
      spent: isLimited ? await reader.usageOfTree(id).catch(() => undefined) : undefined,
      elapsedMs: startedAt === undefined ? undefined : clock.now() - Date.parse(startedAt),
      stopRequested: false,
    });
    next = origin?.kind === 'sub-plan' ? origin.run : undefined;
  }
  return path;
}
