import type { Json } from '@signalbox/model';
import { ARTIFACT } from '../artifacts/artifact-book.ts';
import { PlanError } from '../plan-error.ts';
import { type AppliedAction, flush } from '../state/flush.ts';
import { FILE_WRITE } from '../workspaces/file-book.ts';
import type { EngineBase, PlanCode } from './engine.ts';
import { STATE, stateFault, VOLATILE } from './plan-context.ts';

export interface StateFlush {
  /** Anything that a render may show has changed. */
  readonly changed: boolean;
  /** Transactions that failed. */
  readonly failed: ReadonlyMap<number, PlanError>;
}

/** Where queued changes besides state go. */
type FlushOutlets = Pick<PlanCode, 'files' | 'artifacts'>;

/** Applies the queue as one step: to what renders read, to files, and to the ledger for the next commit. */
export function flushState({ options, memory, queue }: EngineBase, outlets: FlushOutlets): StateFlush {
  const actions = queue.take();
  if (actions.length === 0) return { changed: false, failed: new Map() };
  const { state, volatile, ledger, digest } = memory;
  const isDurable = (key: string) => key.startsWith(STATE);
  const apply = (chosen: typeof actions) =>
    flush(
      chosen,
      key => {
        if (isDurable(key)) return state.peek(key.slice(STATE.length));
        return key.startsWith(VOLATILE) ? volatile.peek(key.slice(VOLATILE.length)) : undefined;
      },
      (key, value) => {
        const fault = isDurable(key) ? stateFault(options.plan, key.slice(STATE.length), value) : undefined;
        return fault === undefined ? undefined : new PlanError('plan/state-invalid', fault);
      },
      // File contents are written unchanged.
      (key, value) => (key.startsWith(FILE_WRITE) ? value : memory.clean(value)),
    );
  let flushed = apply(actions);
  const unwritten = writeFiles(flushed.applied, outlets);
  if (unwritten.size > 0) {
    const { failed } = flushed;
    flushed = apply(actions.filter(({ transaction }) => !unwritten.has(transaction)));
    flushed = { ...flushed, failed: new Map([...failed, ...flushed.failed, ...unwritten]) };
  }
  const { changes, applied, failed } = flushed;
  const durable = new Map<string, Json | undefined>();
  const passing = new Map<string, Json | undefined>();
  for (const [placed, value] of changes) {
    if (placed.startsWith(FILE_WRITE) || placed.startsWith(ARTIFACT)) continue;
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
    if (action.key.startsWith(ARTIFACT)) outlets.artifacts.keep(action.key.slice(ARTIFACT.length), action.node);
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
  // A written file may be one that a render read.
  const isShown = (key: string) => !key.startsWith(ARTIFACT);
  return { changed: [...changes.keys()].some(isShown), failed };
}

/** Files are written last: only if everything else in their transaction is valid. */
function writeFiles(applied: readonly AppliedAction[], outlets: FlushOutlets): ReadonlyMap<number, PlanError> {
  const failed = new Map<number, PlanError>();
  for (const action of applied) {
    if (!action.key.startsWith(FILE_WRITE) || failed.has(action.transaction)) continue;
    const error = outlets.files.write(action.key.slice(FILE_WRITE.length), action.new ?? null, action);
    if (error !== undefined) failed.set(action.transaction, error);
  }
  return failed;
}
