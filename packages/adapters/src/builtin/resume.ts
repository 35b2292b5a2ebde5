import type { Assignment, TaskError } from '@signalbox/runs';
import { taskFailure } from '../attempt/task-failure.ts';
import { lastConversation, type TranscriptEntry, textOfTurn } from './transcript.ts';

export type Start =
  | { readonly kind: 'go-on' }
  | { readonly kind: 'begin'; readonly note?: string }
  | { readonly kind: 'refuse'; readonly error: TaskError };

/** Whether to resume from the transcript. An attempt that waited for people and was answered resumes, whatever the crash policy. */
export function startOf(entries: readonly TranscriptEntry[], assignment: Assignment): Start {
  const conversation = lastConversation(entries, assignment.task);
  if (conversation === undefined) return { kind: 'begin' };
  if (conversation.turns.length === 0 || conversation.waits) return { kind: 'go-on' };
  switch (assignment.resume) {
    case 'continue':
      return { kind: 'go-on' };
    case 'restart': {
      const calls = entries.filter(entry => entry.kind === 'tool_begun').filter(entry => entry.external);
      if (calls.length === 0) return { kind: 'begin' };
      const list = calls.map(call => `${call.tool} ${JSON.stringify(call.input)}`).join('\n');
      return {
        kind: 'begin',
        note: `[An earlier attempt at this task was interrupted. These calls were begun then, may have happened, and cannot be undone:\n${list}\nFind out before you repeat one.]`,
      };
    }
    case 'fail': {
      const last = conversation.turns.at(-1);
      const said = last === undefined ? '' : ` It last said: ${JSON.stringify(textOfTurn(last).slice(0, 300))}`;
      const message = `Node ${assignment.node} was interrupted after ${conversation.turns.length} turns, and its plan says not to go on by itself (resume="fail"). Look at its transcript, then retry it with resume="continue" or "restart".${said}`;
      return { kind: 'refuse', error: taskFailure('resume-refused', message) };
    }
  }
}
