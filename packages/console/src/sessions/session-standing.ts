import type { SessionSummary } from '@signalbox/model';
import type { Standing } from '../story/words.ts';

/** The status of a guided session, in plain words. */
export function sessionStanding({
  health,
  waiting,
  runs,
}: Pick<SessionSummary, 'health' | 'waiting' | 'runs'>): Standing {
  if (health !== 'healthy') return { signal: 'failed', word: health.replace('_', ' ') };
  if (waiting > 0) return { signal: 'waiting', word: 'needs you' };
  const [first] = runs;
  switch (first?.status) {
    case undefined:
      return { signal: 'idle', word: 'not started' };
    case 'in_progress':
      return { signal: 'working', word: 'in progress' };
    case 'blocked':
      return { signal: 'held', word: 'blocked' };
    case 'complete':
      return { signal: 'done', word: 'complete' };
    case 'complete_with_gaps':
      return { signal: 'done', word: 'complete, with gaps' };
  }
}
