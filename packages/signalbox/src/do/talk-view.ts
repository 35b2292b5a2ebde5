import type { ApprovalId, StoredEvent } from '@signalbox/app/host';
import type { RunView } from '../follow-run.ts';
import { fitted, widthOf, wrapped } from '../live/text-width.ts';
import type { Said } from '../owner/run-owner.ts';
import { paintOf, shown, type Terminal } from '../terminal.ts';

export interface TalkOptions {
  /** The ids of the agents' nodes. One alone is not named. */
  readonly speakers: readonly string[];
  /** Asks a person; what agents say meanwhile is shown afterwards. */
  asked(decision: ApprovalId): Promise<unknown>;
}

/** Below this many columns a name has a line of its own, and does not take the room of the text. */
const NARROW = 60;
const LONGEST_NAME = 16;

/** Prints what agents say, line by line, and the tools they use, each told apart by name; hands over every question. */
export function talkView(terminal: Terminal, { speakers, asked }: TalkOptions): RunView {
  const paint = paintOf(terminal);
  const isNamed = speakers.length > 1;
  const column = Math.min(LONGEST_NAME, Math.max(0, ...speakers.map(widthOf)));
  /** Node by task. */
  const nodes = new Map<string, string>();
  /** The unfinished line of each task. */
  const rests = new Map<string, string>();
  let waiting: Said[] = [];
  let isAsking = false;
  let lastNamed: string | undefined;

  function print(task: string, text: string, colour = (plain: string) => plain): void {
    terminal.print(isNamed ? named(nodes.get(task) ?? '', text, colour) : colour(text));
  }

  function named(name: string, text: string, colour: (plain: string) => string): string {
    const width = terminal.screen?.size().width;
    if (width !== undefined && width < NARROW) {
      const isNew = name !== lastNamed;
      lastNamed = name;
      const title = paint.strong(`── ${fitted(name, Math.max(1, width - 6))} ──`);
      return isNew ? `${title}\n${colour(text)}` : colour(text);
    }
    const label = `${fitted(name, column)}${' '.repeat(Math.max(0, column - widthOf(name)))} │ `;
    const lines = width === undefined ? [text] : wrapped(text, width - widthOf(label));
    return lines.map(line => `${paint.strong(label)}${colour(line)}`).join('\n');
  }

  function flush(task: string): void {
    const rest = rests.get(task) ?? '';
    rests.delete(task);
    if (rest !== '') print(task, shown(rest));
  }

  function take({ task, kind, payload }: Said): void {
    if (kind === 'token' && typeof payload === 'string') {
      const lines = ((rests.get(task) ?? '') + payload).split('\n');
      rests.set(task, lines.pop() ?? '');
      for (const line of lines) print(task, shown(line));
    } else if (kind === 'tool_start') {
      flush(task);
      const { title, tool } = payload as { readonly title?: unknown; readonly tool?: unknown };
      if (tool !== 'agent_turn') print(task, `• ${shown(String(title ?? tool))}`, paint.faint);
    } else if (kind === 'message' && isNote(payload)) {
      flush(task);
      print(task, `! ${oneLine(payload.text)}`, paint.doubtful);
    }
  }

  /** What is said before it is known by whom, or while a person is asked, waits. */
  function drain(): void {
    if (isAsking) return;
    const now = waiting;
    waiting = [];
    for (const one of now) {
      if (!isNamed || nodes.has(one.task)) take(one);
      else waiting.push(one);
    }
  }

  async function tell({ event }: StoredEvent): Promise<void> {
    if (event.type === 'task.started') {
      nodes.set(event.task, event.node);
      drain();
    } else if (event.type === 'decision.asked') {
      for (const task of rests.keys()) flush(task);
      isAsking = true;
      try {
        await asked(event.decision);
      } finally {
        isAsking = false;
        lastNamed = undefined;
        drain();
      }
    } else if (isNamed && event.type === 'task.ended' && speakers.includes(event.node)) {
      flush(event.task);
      if (event.outcome === 'done') print(event.task, '✓ done', paint.good);
      else print(event.task, `✗ ${oneLine(event.error?.message ?? event.outcome)}`, paint.bad);
    } else if (isNamed && event.type === 'task.retry') {
      flush(event.task);
      print(event.task, `↻ ${oneLine(event.error.message)}`, paint.doubtful);
    }
  }

  return {
    async events(events) {
      for (const event of events) await tell(event);
    },
    said(chunks) {
      waiting.push(...chunks);
      drain();
    },
    async close() {
      drain();
      for (const one of waiting) take(one);
      for (const task of [...rests.keys()]) flush(task);
    },
  };
}

function isNote(payload: unknown): payload is { readonly text: string } {
  const { kind, text } = (payload ?? {}) as { readonly kind?: unknown; readonly text?: unknown };
  return kind === 'note' && typeof text === 'string';
}

function oneLine(text: string): string {
  return shown(text.replaceAll(/\s*\n\s*/g, ' '));
}
