import type { Json } from '@signalbox/model';
import type { AgentBrief, EventDraft } from '@signalbox/runs';
import * as z from 'zod';
import type { Machine } from '../machine.ts';
import { draftEvent } from '../runs/run-events.ts';

/**
 * Calls whose effects are outside and cannot be undone are in the run's log: that one is about to begin, before it does, and
 * how it ended. What an agent keeps says which; both are in one commit.
 */
export interface OutsideCalls {
  eventsOf(entry: Json): readonly EventDraft[];
}

const begun = z.looseObject({
  kind: z.literal('tool_begun'),
  call: z.string(),
  tool: z.string(),
  external: z.literal(true),
});
const ended = z.looseObject({
  kind: z.literal('tool_ended'),
  call: z.string(),
  tool: z.string(),
  status: z.enum(['succeeded', 'failed', 'unknown', 'refused', 'denied']),
});

/** `kept` is what earlier attempts kept: a call that they began may end now. */
export function outsideCalls(
  machine: Pick<Machine, 'clock' | 'ids'>,
  { node, task }: Pick<AgentBrief, 'node' | 'task'>,
  kept: readonly Json[],
): OutsideCalls {
  const open = new Set(kept.flatMap(entry => begun.safeParse(entry).data?.call ?? []));
  return {
    eventsOf(entry) {
      const beginning = begun.safeParse(entry);
      if (beginning.success) {
        const { call, tool } = beginning.data;
        open.add(call);
        return [draftEvent(machine, 'call.began', { call, tool, node, task })];
      }
      const end = ended.safeParse(entry);
      if (!end.success || !open.delete(end.data.call)) return [];
      const { call, tool, status: outcome } = end.data;
      return [draftEvent(machine, 'call.ended', { call, tool, node, task, outcome })];
    },
  };
}
