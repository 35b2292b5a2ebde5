import { type ErrorEnvelope, failure, type RunId } from '@signalbox/model';
import { nodeRecord } from '@signalbox/plan';
import type { RunReader, RunRecord, Task } from '@signalbox/runs';
import type { CheckpointFacts } from '../undo/checkpoint-files.ts';
import type { ForkPlace } from './fork-moment.ts';
import { keptMessages } from './kept-messages.ts';

/** A tool call whose effects were files, and perhaps more. */
export type RecordedCall = Pick<CheckpointFacts, 'task' | 'tool' | 'at' | 'beyond'>;

/**
 * Outside effects that the fork would not know of and may repeat: work with effects outside, and calls of such tools, whose end was not
 * handled before the fork's frame. Of work that continues from the middle, only later calls count. Sub-plans that the fork starts over
 * count completely.
 */
export async function effectsOutside(
  reader: RunReader,
  run: RunId,
  place: Pick<ForkPlace, 'frame' | 'from'> | undefined,
  callsOf: (run: RunId) => readonly RecordedCall[] = () => [],
): Promise<readonly string[]> {
  const isUnknown = ({ handledFrame }: Task) => place === undefined || (handledFrame ?? place.frame) >= place.frame;
  const found: string[] = [];
  for (const task of await reader.tasks(run, { effects: ['external'] })) {
    if (isUnknown(task) && task.startedAt !== undefined) found.push(`the work of ${task.node}`);
  }
  for (const task of await reader.tasks(run, { effects: ['undoable'] })) {
    if (!isUnknown(task)) continue;
    const isKnownCall = (at: string) => task.id === place?.from?.task.id && at < place.from.at;
    for (const call of callsOf(run)) {
      if (call.task !== task.id || !call.beyond || isKnownCall(call.at)) continue;
      found.push(`the call of ${call.tool} by ${task.node}`);
    }
    for (const { payload, at } of await keptMessages(reader, run, task.id)) {
      const { kind, external, tool } = payload as Record<string, unknown>;
      if (kind !== 'tool_begun' || external !== true) continue;
      if (isKnownCall(at)) continue;
      found.push(`the call of ${String(tool)} by ${task.node}`);
    }
  }
  for (const { id, origin } of await reader.children(run)) {
    if (origin?.kind !== 'sub-plan') continue;
    if (place !== undefined && (await isDone(reader, run, origin, place.frame))) continue;
    found.push(...(await effectsOutside(reader, id, undefined, callsOf)));
  }
  return found;
}

/** Whether a sub-plan counts as done in a frame. */
async function isDone(
  reader: RunReader,
  run: RunId,
  { node, iteration }: { readonly node: string; readonly iteration: number },
  frame: number,
): Promise<boolean> {
  const value = await reader.valueAt(run, 'status', node, frame);
  const record = value === undefined ? undefined : nodeRecord.parse(value);
  if (record === undefined || record.iteration < iteration) return false;
  return record.iteration > iteration || record.status === 'succeeded';
}

export function effectsNotAccepted({ id }: RunRecord, frame: number, effects: readonly string[]): ErrorEnvelope {
  return failure('run/effects-outside', {
    message: `Since frame ${frame}, run ${id} has had effects that cannot be undone: ${effects.slice(0, 5).join(', ')}${
      effects.length > 5 ? ` and ${effects.length - 5} more` : ''
    }. A fork does not know about them and may repeat them.`,
    suggestion: 'Accept that with --accept-effects, or fork from a later frame.',
    details: { run: id, frame, effects: [...effects] },
  });
}
