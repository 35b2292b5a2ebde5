import type { SessionSummary } from '@signalbox/app/guided';
import { type Paint, shown } from '../terminal.ts';

/** Sessions for people: each with its runs, their places, and what waits. */
export function describeSessions(sessions: readonly SessionSummary[], paint: Paint): string {
  return sessions.map(session => describeSession(session, paint)).join('\n');
}

function describeSession(session: SessionSummary, paint: Paint): string {
  const { sessionId, health, lastActiveAt, isKept, waiting, repository, branch, runs, recap } = session;
  const marks = [
    ...(health === 'healthy' ? [] : [paint.bad(health)]),
    ...(isKept ? ['kept'] : []),
    ...(waiting === 0 ? [] : [paint.doubtful(`${waiting} waiting for you`)]),
  ];
  const where = [repository, branch].filter(each => each !== null).map(shown);
  const lines = [[paint.strong(sessionId), lastActiveAt, ...marks, ...where.map(paint.faint)].join('  ')];
  for (const run of runs) {
    const at = run.pendingStep === null ? '' : `  at ${shown(run.pendingStep.title)}`;
    lines.push(`  ${run.status.padEnd(11)}  ${shown(run.workflowId ?? 'unknown workflow')}${at}`);
  }
  if (recap !== null) lines.push(paint.faint(`  ${shown(recap)}`));
  return lines.join('\n');
}
