import { type EventId, type RunId, timestampOf } from '@signalbox/model';
import { type Commit, eventDraftOf, type InternalEvent, type OwnerId, type RunReader } from '@signalbox/runs';
import type { Machine } from '../machine.ts';

type Called = Extract<InternalEvent, { readonly type: 'model.called' }>;

export interface LostCallsPorts {
  readonly store: RunReader & Commit;
  readonly machine: Pick<Machine, 'clock' | 'ids'>;
}

const PAGE = 1_000;

/**
 * Counts calls that were under way when the process before died: nobody knows what they spent, so all that was reserved for them counts, each
 * once. Before any run goes on.
 */
export async function countLostCalls({ store, machine }: LostCallsPorts, owner: OwnerId): Promise<number> {
  const orphaned = await store.orphans([owner]);
  let count = 0;
  for (const run of new Set(orphaned.map(one => one.run))) {
    for (const call of await openCalls(store, run)) {
      await countOne({ store, machine }, run, call);
      count++;
    }
  }
  return count;
}

/** Calls of a run that have no end. */
async function openCalls(reader: RunReader, run: RunId): Promise<readonly Called[]> {
  const open = new Map<string, Called>();
  for (let from = 0; ; ) {
    const page = await reader.events(run, from, PAGE);
    for (const { event } of page) {
      if (event.type === 'model.called') open.set(event.call, event);
      else if (event.type === 'model.answered') open.delete(event.call);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return [...open.values()];
    from = last.event.seq + 1;
  }
}

async function countOne({ store, machine }: LostCallsPorts, run: RunId, called: Called): Promise<void> {
  const { call, node, task, provider, model, input, output, costMicroUsd } = called;
  const at = timestampOf(machine.clock);
  const draft = <Type extends 'usage.recorded' | 'model.answered'>(
    type: Type,
    fields: Parameters<typeof eventDraftOf<Type>>[1],
  ) => ({ id: machine.ids.mint<EventId>(), ts: at, ...eventDraftOf(type, fields) });
  const unknown = ['input', 'output', ...(costMicroUsd === undefined ? ['cost'] : [])] as (
    | 'input'
    | 'output'
    | 'cost'
  )[];
  const tokens = { inputTokens: input, outputTokens: output, cachedTokens: 0, toolCalls: 0, wallMs: 0 };
  const spent = { inputTokens: input, outputTokens: output, cachedTokens: 0, costMicroUsd: costMicroUsd ?? 0 };
  const written = await store.commit(
    {
      at,
      usage: [{ call, node, task, provider, model, ...tokens, costMicroUsd: costMicroUsd ?? 0, at }],
      events: [
        draft('usage.recorded', { call, node, task }),
        draft('model.answered', { call, node, task, provider, model, outcome: 'lost', unknown, spent }),
      ],
    },
    { run, version: 'any' },
  );
  if (!written.ok) throw new Error(`a lost call of run ${run} could not be counted: ${written.error.message}`);
}
