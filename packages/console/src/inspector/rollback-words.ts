import type { RollbackReport } from '@signalbox/model';

/** What a rollback would do to files, as text. */
export function rollbackWords({ calls, paths, run }: RollbackReport): string {
  if (run !== undefined)
    return 'This run was already rolled back to this call; the run that continues from there opens.';
  if (paths.length === 0) return 'No files change: only state and transcript go back.';
  const undone = calls.length === 1 ? '1 call is undone' : `${calls.length} calls are undone`;
  return `${undone}. ${paths.length === 1 ? 'This path goes' : 'These paths go'} back:`;
}

/** Whether it is allowed: its effects are known, and the remaining ones accepted. */
export function canRollBack(report: RollbackReport | undefined, isAccepted: boolean): boolean {
  return report !== undefined && (report.effects.length === 0 || isAccepted);
}
