const known: Readonly<Record<string, string>> = {
  start: 'the start',
  task: 'work that moved on',
  state: 'state that changed',
  decision: 'an answer of a person',
  signal: 'a signal',
  operator: 'something a person did',
  resume: 'a resume',
};

/** What made a frame necessary, after `because of`. */
export function causeWords(trigger: string): string {
  return known[trigger] ?? trigger;
}
