import type { ApprovalId, StoredEvent } from '@signalbox/app/host';
import type { RunView } from '../follow-run.ts';
import { paintOf, shown, type Terminal } from '../terminal.ts';

/** Prints what an agent says, line by line, and the tools it uses; hands over every question. */
export function talkView(terminal: Terminal, asked: (decision: ApprovalId) => Promise<unknown>): RunView {
  const paint = paintOf(terminal);
  let rest = '';
  const flush = () => {
    if (rest !== '') terminal.print(shown(rest));
    rest = '';
  };
  return {
    async events(events: readonly StoredEvent[]) {
      for (const { event } of events) {
        if (event.type !== 'decision.asked') continue;
        flush();
        await asked(event.decision);
      }
    },
    said(chunks) {
      for (const { kind, payload } of chunks) {
        if (kind === 'token' && typeof payload === 'string') {
          const lines = (rest + payload).split('\n');
          rest = lines.pop() ?? '';
          for (const line of lines) terminal.print(shown(line));
        } else if (kind === 'tool_start') {
          flush();
          const { title, tool } = payload as { readonly title?: unknown; readonly tool?: unknown };
          if (tool !== 'agent_turn') terminal.print(paint.faint(`• ${shown(String(title ?? tool))}`));
        }
      }
    },
    async close() {
      flush();
    },
  };
}
