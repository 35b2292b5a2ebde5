import type { Json, RunId } from '@signalbox/model';
import { type AnyEvent, INHERITED, type RunReader } from '@signalbox/runs';
import { editTriggers } from '../forks/edit-value.ts';
import { STATE } from '../frames/plan-context.ts';
import type { Action } from '../state/action.ts';

/** A write of code that a replay does not call. */
interface RecordedWrite {
  readonly action: Action;
  readonly trigger: string | undefined;
}

export interface RecordedWrites {
  /** By effect, in the order of application. */
  readonly effects: ReadonlyMap<string, readonly RecordedWrite[]>;
  /** Writes of code outside any transaction: tasks, and what effects started. */
  readonly late: readonly RecordedWrite[];
}

/** The writes of the author's effects and work, from the transitions in events. */
export async function recordedWrites(
  reader: RunReader,
  run: RunId,
  events: readonly AnyEvent[],
): Promise<RecordedWrites> {
  const effects = new Map<string, RecordedWrite[]>();
  const late: RecordedWrite[] = [];
  for (const event of events) {
    if (event.type !== 'state.changed' || !isOutside(event)) continue;
    const { frame, index, key, trigger, node } = event;
    const page = await reader.transitions(run, { from: { frame, index }, limit: 1 });
    const [transition] = page.items;
    if (transition?.key !== key) continue;
    const write = { action: actionTo(key, transition.new), trigger };
    if (node === undefined) late.push(write);
    else effects.set(node, [...(effects.get(node) ?? []), write]);
  }
  return { effects, late };
}

/** Triggers of writes that a replay makes itself: initial values, those of renders, edits of people. */
const NOT_CODE = new Set(['plan.initial', 'init', ...editTriggers, INHERITED]);

/** Handlers and renders are called again; the initial values are the plan's. */
function isOutside({ handler, node, trigger }: Extract<AnyEvent, { readonly type: 'state.changed' }>): boolean {
  if (handler === 'effect') return true;
  return node === undefined && handler === undefined && !NOT_CODE.has(trigger ?? '');
}

function actionTo(key: string, value: Json | undefined): Action {
  return value === undefined ? { kind: 'delete', key: STATE + key } : { kind: 'set', key: STATE + key, value };
}
