import type { JsonObject } from '@signalbox/model';
import type { LoopTurn } from '../session/step-instance-key.ts';
import { type ContextLayers, contextValue, isList } from './condition-value.ts';
import type { WorkflowIndex } from './workflow-index.ts';

/**
 * The context as seen inside loops: each iteration adds its number from 1, and `forEach` its item and the index from 0. Inner
 * names shadow outer ones.
 */
export function stepContext(index: WorkflowIndex, context: JsonObject, loopPath: readonly LoopTurn[]): ContextLayers {
  let seen: ContextLayers = [context];
  for (const { loopId, iteration } of loopPath) {
    const loop = index.loops.get(loopId);
    if (loop === undefined) continue;
    const items = loop.control.kind === 'items_key' ? contextValue(seen, loop.control.key) : null;
    const turn = isList(items) ? { [loop.itemVar]: items[iteration] ?? null, [loop.indexVar]: iteration } : {};
    seen = [{ ...turn, [loop.iterationVar]: iteration + 1 }, ...seen];
  }
  return seen;
}
