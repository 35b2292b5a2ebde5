import type { Json } from '@signalbox/model';
import type { Assignment, EventDraft, StreamChunk } from '@signalbox/runs';
import * as z from 'zod';

/**
 * The events that follow from what an agent keeps: what its model said, and its tool calls.
 *
 * 1. An event is committed with the chunk that it follows from, so the chunks of a task say which events were told.
 * 2. A call is proposed once. It begins once, before a tool with effects runs, and ends once; only one that was canceled begins again.
 */
export interface TranscriptEvents {
  /** The events of chunks that are about to be committed, in order. */
  of(chunks: readonly StreamChunk[]): {
    readonly events: readonly EventDraft[];
    /** Called once they are durable. */
    readonly settle: () => void;
  };
}

const call = { call: z.string().min(1), tool: z.string() };
const started = z.looseObject(call);
const canceled = z.looseObject({ ...call, outcome: z.literal('canceled') });
const entry = z.discriminatedUnion('kind', [
  z.looseObject({ kind: z.literal('assistant') }),
  /** A person is about to be asked about it. */
  z.looseObject({ kind: z.literal('tool_proposed'), ...call }),
  z.looseObject({ kind: z.literal('tool_begun'), ...call }),
  z.looseObject({
    kind: z.literal('tool_ended'),
    ...call,
    status: z.enum(['succeeded', 'failed', 'unknown', 'refused', 'denied']),
  }),
]);

/** How far a call has come. */
type Stage = 'proposed' | 'begun' | 'ended';
type Call = Readonly<z.infer<typeof started>>;

/** `kept` is what earlier attempts kept: a call that they began may end now. */
export function transcriptEvents(
  { node, task }: Pick<Assignment, 'node' | 'task'>,
  kept: readonly StreamChunk[],
): TranscriptEvents {
  const known = new Map<string, Stage>();

  function of(chunks: readonly StreamChunk[]) {
    const staged = new Map<string, Stage>();
    const events: EventDraft[] = [];
    const stageOf = (id: string) => staged.get(id) ?? known.get(id);

    function propose({ call: id, tool }: Call, index: number): void {
      if (stageOf(id) !== undefined) return;
      staged.set(id, 'proposed');
      events.push({ type: 'call.proposed', call: id, tool, node, task, index });
    }

    function begin({ call: id, tool }: Call): void {
      if (stageOf(id) === 'begun') return;
      staged.set(id, 'begun');
      events.push({ type: 'call.began', call: id, tool, node, task });
    }

    function end({ call: id, tool }: Call, outcome: Outcome, index: number): void {
      if (stageOf(id) === 'ended') return;
      begin({ call: id, tool });
      // A call that was canceled has not ended for good.
      staged.set(id, outcome === 'canceled' ? 'proposed' : 'ended');
      events.push({ type: 'call.ended', call: id, tool, node, task, outcome, index });
    }

    for (const { kind, payload, index } of chunks) {
      if (kind === 'tool_start') {
        const start = parsed(started, payload);
        if (start === undefined || stageOf(start.call) === 'ended') continue;
        propose(start, index);
        begin(start);
      } else if (kind === 'tool_end') {
        const end_ = parsed(canceled, payload);
        if (end_ !== undefined && stageOf(end_.call) === 'begun') end(end_, 'canceled', index);
      } else if (kind === 'message') {
        const message = parsed(entry, payload);
        if (message?.kind === 'assistant') events.push({ type: 'message.said', task, node, index });
        else if (message?.kind === 'tool_proposed') propose(message, index);
        else if (message?.kind === 'tool_begun') {
          propose(message, index);
          begin(message);
        } else if (message?.kind === 'tool_ended') end(message, message.status, index);
      }
    }
    return {
      events,
      settle() {
        for (const [id, stage] of staged) known.set(id, stage);
      },
    };
  }

  of(kept).settle();
  return { of };
}

type Outcome = Extract<EventDraft, { readonly type: 'call.ended' }>['outcome'];

function parsed<T>(schema: z.ZodType<T>, payload: Json): T | undefined {
  return schema.safeParse(payload).data;
}
