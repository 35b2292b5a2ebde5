import type { Json } from '@signalbox/model';
import { changeBetween } from '@signalbox/runs';
import type { CommandAnswer, StateEdit } from '../frames/command.ts';
import { stateFault } from '../frames/plan-context.ts';
import type { RunMemory } from '../frames/run-memory.ts';
import type { AnyPlan } from '../plan-definition.ts';
import { frozen } from '../state/frozen.ts';
import { editedValue, editTrigger } from './edit-value.ts';

/** Why an edit does not fit the plan; undefined if it does. */
export function editFault(plan: AnyPlan, key: string, value: Json | undefined): string | undefined {
  if (value !== undefined) return stateFault(plan, key, value);
  return Object.hasOwn(plan.state.shape, key) ? undefined : `the state of plan ${plan.name} has no key '${key}'`;
}

/** Edits the state of a driven run between two frames: the next one is rendered with it. */
export function editState(plan: AnyPlan, memory: RunMemory, edit: StateEdit): CommandAnswer {
  const { key, reason, by } = edit;
  const { state, ledger, digest } = memory;
  const old = state.peek(key);
  const made = editedValue(old, edit);
  if (!made.ok) return { refused: made.error };
  const { value } = made;
  const fault = editFault(plan, key, value);
  if (fault !== undefined) return { refused: fault };
  const change = changeBetween(old, value);
  if (change === undefined) return 'no_effect';
  const plain = value === undefined ? { ok: true as const, value: undefined } : frozen(value);
  if (!plain.ok) return { refused: plain.error };
  const frame = Math.max(0, memory.nextFrame - 1);
  const trigger = editTrigger(edit);
  state.write(new Map([[key, plain.value]]));
  ledger.put('state', key, plain.value);
  digest.set('state', key, plain.value);
  const applied = {
    frame,
    node: '',
    index: 0,
    transaction: 0,
    trigger,
    key,
    old,
    new: plain.value,
    change,
  };
  const index = ledger.transition(applied, key);
  ledger.event('state.changed', { frame, index, key, trigger });
  ledger.event('state.edited', { key, frame, by, reason });
  memory.lastChanges = [...memory.lastChanges, { key, frame, trigger }].slice(-3);
  return 'done';
}
