const known: Readonly<Record<string, string>> = {
  start: 'the start',
  task: 'a task update',
  state: 'a state change',
  decision: "a person's answer",
  signal: 'a signal',
  operator: "a person's action",
  resume: 'a resume',
};

/** The cause of a frame, after `because of`. */
export function causeWords(trigger: string): string {
  return known[trigger] ?? trigger;
}
