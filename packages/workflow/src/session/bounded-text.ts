import { text, utf8Length } from '@signalbox/model';

/** Budgets of recorded values, in UTF-8 bytes unless stated otherwise. */
export const budgets = {
  blockers: 10,
  blockerMessage: 512,
  blockerSuggestedFix: 1024,
  notesMarkdown: 4096,
  traceEntries: 25,
  traceSummary: 512,
  traceRefs: 10,
  /** Of the canonical JSON of a trace's data. */
  traceTotal: 8192,
  summary: 512,
  evidenceRefs: 20,
  shortString: 80,
  path: 512,
  /** Of the canonical JSON of a run's context. */
  context: 256 * 1024,
  identifier: 256,
  sourceRef: 1024,
  answerText: 4096,
} as const;

export type Budget = keyof typeof budgets;

/** A text within its budget. A longer one is refused with its name and both sizes. */
export function boundedText(budget: Budget) {
  const max = budgets[budget];
  return text.refine(value => utf8Length(value) <= max, {
    error: issue => `takes ${utf8Length(String(issue.input))} UTF-8 bytes, the budget of ${budget} is ${max}`,
  });
}
