import { type OwnTool, runOwnTool } from '@signalbox/plan';
import type { OwnToolAnswer, OwnToolCall, OwnToolOperation, OwnToolReply } from '@signalbox/runs';

import { notingOutside } from './io-watch.ts';

export interface ThreadToolsOptions {
  readonly clean: Parameters<typeof runOwnTool>[3];
  readonly operate: (execution: string, call: string, operation: OwnToolOperation) => Promise<OwnToolAnswer>;
}

/** The tools that plans of this thread bring along, while the work runs that they are for. */
export function createThreadTools({ clean, operate }: ThreadToolsOptions) {
  const open = new Map<string, ReadonlyMap<string, OwnTool>>();
  const calls = new Map<string, AbortController>();
  const keyOf = (execution: string, call: string) => `${execution}\n${call}`;
  return {
    open: (execution: string, tools: ReadonlyMap<string, OwnTool> | undefined) => {
      if (tools !== undefined) open.set(execution, tools);
    },
    close: (execution: string) => void open.delete(execution),
    async call(execution: string, { id, tool: name, input }: OwnToolCall): Promise<OwnToolReply> {
      const tool = open.get(execution)?.get(name);
      if (tool === undefined) return { ok: false, message: `The plan has no tool "${name}" any more.`, outside: [] };
      const control = new AbortController();
      const key = keyOf(execution, id);
      calls.set(key, control);
      try {
        const outside = new Set<string>();
        const asked = { id, input, signal: control.signal, outside };
        return await notingOutside(outside, () =>
          runOwnTool(tool, asked, operation => operate(execution, id, operation), clean),
        );
      } finally {
        calls.delete(key);
      }
    },
    abort: (execution: string, call: string) => calls.get(keyOf(execution, call))?.abort(new Error('canceled')),
  };
}
