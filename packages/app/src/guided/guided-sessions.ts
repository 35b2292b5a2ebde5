import type { ErrorEnvelope, Result, SessionId } from '@signalbox/model';
import type { Gap, GapAnswer } from '@signalbox/workflow';
import type { Machine } from '../machine.ts';
import { openGuidedDesk, type WaitingGap } from './guided-desk.ts';
import { type DetailOptions, type SessionDetail, showSession } from './session-detail.ts';
import { listSessions, type SessionSummary } from './session-list.ts';

/** Guided sessions as a person sees them. Any number of processes may: what is read takes no lock. */
export interface GuidedSessions {
  list(): Result<readonly SessionSummary[], ErrorEnvelope>;
  show(session: SessionId): Promise<Result<SessionDetail, ErrorEnvelope>>;
  /** What waits for the person, over all sessions. */
  waiting(): Result<readonly WaitingGap[], ErrorEnvelope>;
  /** By the beginning of the gap's id. An answer counts once; whoever answers again gets the first. */
  answer(session: SessionId, gap: string, answer: GapAnswer): Promise<Result<Gap, ErrorEnvelope>>;
}

export function openGuidedSessions(
  options: DetailOptions & { readonly machine: Pick<Machine, 'rng'> },
): GuidedSessions {
  const desk = openGuidedDesk({ dataDirectory: options.dataDirectory, rng: options.machine.rng });
  return {
    list: () => listSessions(options),
    show: session => showSession(options, session),
    waiting: () => desk.waiting(),
    async answer(session, given, answer) {
      const found = desk.find(session, given);
      return found.ok ? desk.answer(session, found.value.gap.gapId, answer) : found;
    },
  };
}
