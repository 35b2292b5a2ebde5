import type { GuidedSessions } from '@signalbox/app/guided';
import { type ErrorEnvelope, err, failure, ok } from '@signalbox/model';

/** A data directory in which nobody was guided yet. */
export const noSessions: GuidedSessions = {
  runs: {
    list: () => ok([]),
    find: () => ok(undefined),
    show: () => ok(undefined),
    events: () => ok([]),
    artifacts: () => ok([]),
    content: () => err(unknown),
    decisions: () => ok([]),
    decision: () => ok(undefined),
    answer: async () => err(unknown),
  },
  list: () => ok([]),
  show: async () => err(unknown),
  waiting: () => ok([]),
  answer: async () => err(unknown),
  forms: async () => err(unknown),
  check: async () => err({ code: 'workflow/invalid', problems: [] }),
  copy: async () => err(unknown),
  save: async () => err(unknown),
};

const unknown: ErrorEnvelope = failure('session/unknown', { message: 'There is none.', suggestion: 'Start one.' });
