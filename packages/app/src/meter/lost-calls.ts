import { type EventId, type RunId, timestampOf } from '@signalbox/model';
import {
  type Commit,
  eventDraftOf,
  type InternalEvent,
  type OwnerId,
  type RunReader,
  type TaskId,
} from '@signalbox/runs';
import type { Machine } from '../machine.ts';

type Called = Extract<InternalEvent, { readonly type: 'model.called' }>;

export interface LostCallsPorts {
  readonly store: RunReader & Commit;
  readonly machine: Pick<Machine, 'clock' | 'ids'>;
}

const PAGE = 100;

/**
 * Counts calls that were under way when the process before died: nobody knows what they spent, so all that was reserved for them counts, each
 * once. Before any run goes on.
 */
export async function countLostCalls({ store, machine }: LostCallsPorts, owner: OwnerId): Promise<number> {
  const orphaned = Map.groupBy(await store.orphans([owner]), ({ run }) => run);
  let count = 0;
  for (const [run, orphans] of orphaned) {
    for (const call of await openCalls(store, run, new Set(orphans.map(({ task }) => task.id)))) {
      await countOne({ store, machine }, run, call);
      count++;
    }
  }
  return count;
}

/**
 * Calls of a run that have no end. An attempt ends after its calls, so they began after the attempts did that are still under way: the events
 * are read from the last one back to those starts, however long the run is.
 */
async function openCalls(reader: RunReader, run: RunId, underWay: ReadonlySet<TaskId>): Promise<readonly Called[]> {
  const open: Called[] = [];
  const answered = new Set<string>();
  const unseen = new Set(underWay);
  let end = (await reader.run(run))?.nextSeq ?? 0;
  while (end > 0 && unseen.size > 0) {
    const from = Math.max(0, end - PAGE);
    for (const { event } of (await reader.events(run, from, end - from)).toReversed()) {
      if (event.type === 'model.answered') answered.add(event.call);
      else if (event.type === 'model.called' && !answered.has(event.call)) open.push(event);
      else if (event.type === 'task.started') unseen.delete(event.task);
      if (unseen.size === 0) break;
    }
    end = from;
  }
  return open.reverse();
}

async function countOne({ store, machine }: LostCallsPorts, run: RunId, called: Called): Promise<void> {
  const { call, node, task, provider, model, subagent, input, output, costMicroUsd } = called;
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
        draft('model.answered', {
          ...{ call, node, task, provider, model, outcome: 'lost', unknown, spent },
          ...(subagent !== undefined && { subagent }),
        }),
      ],
    },
    { run, version: 'any' },
  );
  if (!written.ok) throw new Error(`a lost call of run ${run} could not be counted: ${written.error.message}`);
}
