import type { Json } from '@signalbox/model';
import type { AnyPlan } from '../plan-definition.ts';
import { PlanError } from '../plan-error.ts';
import type { ActionQueue } from '../state/action-queue.ts';
import { flush } from '../state/flush.ts';
import { STATE, stateFault, VOLATILE } from './plan-context.ts';
import type { RunMemory } from './run-memory.ts';

export interface StateFlush {
  /** Something that a render may show is another now. */
  readonly changed: boolean;
  /** Transactions that came to nothing. */
  readonly failed: ReadonlyMap<number, PlanError>;
}

/** Applies what is queued as one step: to what renders read, and to the ledger for the next commit. */
export function flushState(plan: AnyPlan, queue: ActionQueue, memory: RunMemory): StateFlush {
  const actions = queue.take();
  if (actions.length === 0) return { changed: false, failed: new Map() };
  const { state, volatile, ledger, digest } = memory;
  const isDurable = (key: string) => key.startsWith(STATE);
  const { changes, applied, failed } = flush(
    actions,
    key => (isDurable(key) ? state.peek(key.slice(STATE.length)) : volatile.peek(key.slice(VOLATILE.length))),
    (key, value) => {
      const fault = isDurable(key) ? stateFault(plan, key.slice(STATE.length), value) : undefined;
      return fault === undefined ? undefined : new PlanError('plan/state-invalid', fault);
    },
  );
  const durable = new Map<string, Json | undefined>();
  const passing = new Map<string, Json | undefined>();
  for (const [placed, value] of changes) {
    if (!isDurable(placed)) {
      passing.set(placed.slice(VOLATILE.length), value);
      continue;
    }
    const key = placed.slice(STATE.length);
    durable.set(key, value);
    ledger.put('state', key, value);
    digest.set('state', key, value);
  }
  for (const action of applied) {
    if (!isDurable(action.key)) continue;
    const key = action.key.slice(STATE.length);
    const index = ledger.transition(action, key);
    ledger.event('state.changed', {
      frame: action.frame,
      index,
      key,
      trigger: action.trigger,
      ...(action.node === '' ? {} : { node: action.node as never }),
      ...(action.handler === undefined ? {} : { handler: action.handler }),
    });
    memory.lastChanges = [...memory.lastChanges, { key, frame: action.frame, trigger: action.trigger }].slice(-3);
  }
  if (durable.size > 0) state.write(durable);
  if (passing.size > 0) volatile.write(passing);
  return { changed: changes.size > 0, failed };
}
