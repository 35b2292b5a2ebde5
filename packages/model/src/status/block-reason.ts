import type { Timestamp } from '../clock.ts';

const TIMER = 'timer:';

/** Why a timer does not go on. It is kept with its task and its node, so that its time holds over restarts. */
export function timerReason(due: Timestamp): string {
  return `${TIMER}${due}`;
}

/** The time that a node waits for; undefined where it waits for something else. */
export function timerDue(reason: string | undefined): Timestamp | undefined {
  return reason?.startsWith(TIMER) ? (reason.slice(TIMER.length) as Timestamp) : undefined;
}

/** Whether a person said no: the reason of a question's node says so, whether the plan took that in or not. */
export function isDenied(reason: string | undefined): boolean {
  return reason === 'denied' || reason?.startsWith('denied:') === true;
}
