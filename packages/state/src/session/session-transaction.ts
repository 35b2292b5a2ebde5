import { ok, type Result } from '@signalbox/model';
import type { AppendList } from './append-list.ts';
import { createView, isLog, reduced, type SessionAction, type SessionCore, type SessionView } from './session-view.ts';
import { createOverlayStore, type DispatchError, type SliceChange } from './slice-store.ts';

/**
 * One call's private view of a session. Its changes are invisible to others until it commits; dropping it leaves no trace,
 * except in logs, which are written at once.
 */
export interface SessionTransaction {
  readonly view: SessionView;
  /** Commits the changes to the session. If others changed the same slices, the events are reduced again on the new values. */
  commit(): Result<void, DispatchError>;
}

export function beginTransaction(core: SessionCore): SessionTransaction {
  const log = (slice: string) => isLog(core, slice);
  const overlay = createOverlayStore(core.store, log);
  const actions: SessionAction[] = [];
  const changes: SliceChange[] = [];
  const bases = new Map<string, AppendList<unknown>>();
  const view = createView(
    core,
    {
      get: slice => {
        if (!bases.has(slice)) bases.set(slice, core.store.get(slice));
        return overlay.get(slice);
      },
      apply: overlay.apply,
    },
    (action, own) => {
      actions.push(action);
      changes.push(...own.filter(change => !log(change.slice)));
    },
  );
  return {
    view,
    commit() {
      const moved = [...bases].some(([slice, base]) => !log(slice) && core.store.get(slice) !== base);
      if (!moved) return core.store.apply(changes);
      const replayed = replay(core, actions);
      return replayed.ok ? core.store.apply(replayed.value) : replayed;
    },
  };
}

/** The result of the actions on the session's current values. Logs are omitted: they already have theirs. */
function replay(core: SessionCore, actions: readonly SessionAction[]): Result<readonly SliceChange[], DispatchError> {
  const ahead = createOverlayStore({ get: core.store.get, apply: () => ok(undefined) }, slice => isLog(core, slice));
  const changes: SliceChange[] = [];
  for (const action of actions) {
    const next = action.kind === 'dispatch' ? reduced(core, ahead, action.event, action.payload) : ok(action.changes);
    if (!next.ok) return next;
    ahead.apply(next.value);
    changes.push(...next.value.filter(change => !isLog(core, change.slice)));
  }
  return ok(changes);
}
