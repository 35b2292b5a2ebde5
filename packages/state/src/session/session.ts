import { type Clock, ok, type Result, type SessionId, timestampOf } from '@signalbox/model';
import { itemsOf } from './append-list.ts';
import {
  captureSlices,
  type RollbackError,
  type SessionSnapshot,
  type SnapshotOptions,
  type StagedRollback,
  stageRollback,
} from './session-snapshot.ts';
import { beginTransaction, type SessionTransaction } from './session-transaction.ts';
import { createView, type SessionCore, type SessionView } from './session-view.ts';
import { createRootStore } from './slice-store.ts';

/** All of the typed working state of one evaluation. */
export interface Session extends SessionView {
  readonly id: SessionId;
  readonly parentId: SessionId | null;
  readonly childrenIds: readonly SessionId[];
  /** A separate session linked to this one. */
  child(id: SessionId): Session;
  /**
   * A child with the same slices and reducers whose state is a snapshot's. Its logs hold what this session's logs held
   * when the snapshot was taken.
   */
  fork(id: SessionId, snapshot: SessionSnapshot): Result<Session, RollbackError>;
  /** A private view for one call. */
  begin(): SessionTransaction;
  snapshot(options?: SnapshotOptions): SessionSnapshot;
  /** Checks a rollback without carrying it out. */
  stage(snapshot: SessionSnapshot, options?: RollbackOptions): Result<StagedRollback, RollbackError>;
  rollback(snapshot: SessionSnapshot, options?: RollbackOptions): Result<void, RollbackError>;
}

interface RollbackOptions {
  /** Whether logs are left unchanged; true by default. */
  readonly preserveLogs?: boolean;
}

export interface SessionOptions {
  readonly id: SessionId;
  readonly clock: Clock;
  readonly parentId?: SessionId;
}

export function createSession(options: SessionOptions): Session {
  return sessionOf(options, {
    store: createRootStore(),
    registrations: new Map(),
    reducers: new Map(),
  });
}

function sessionOf(options: SessionOptions, core: SessionCore): Session {
  const { id, clock, parentId = null } = options;
  const children: SessionId[] = [];
  const stage = (snapshot: SessionSnapshot, { preserveLogs = true }: RollbackOptions = {}) =>
    stageRollback(core, snapshot, preserveLogs);
  return {
    ...createView(core, core.store),
    id,
    parentId,
    get childrenIds() {
      return [...children];
    },
    child(own) {
      children.push(own);
      return createSession({ id: own, clock, parentId: id });
    },
    fork(own, snapshot) {
      const copy = forkedCore(core, snapshot);
      const forked = sessionOf({ id: own, clock, parentId: id }, copy);
      const state = forked.rollback(snapshot);
      if (!state.ok) return state;
      children.push(own);
      return ok(forked);
    },
    begin: () => beginTransaction(core),
    snapshot: (wanted = {}) => ({
      sessionId: id,
      createdAt: timestampOf(clock),
      ...captureSlices(core, wanted),
      parentId,
      childrenIds: [...children],
      tags: wanted.tags ?? {},
    }),
    stage,
    rollback(snapshot, how) {
      const staged = stage(snapshot, how);
      return staged.ok ? ok(staged.value.apply()) : staged;
    },
  };
}

function forkedCore(core: SessionCore, snapshot: SessionSnapshot): SessionCore {
  const store = createRootStore();
  for (const [name, length] of Object.entries(snapshot.logLengths)) {
    store.apply([
      { slice: name, operation: { kind: 'extend', items: itemsOf(core.store.get(name)).slice(0, length) } },
    ]);
  }
  return {
    store,
    registrations: new Map([...core.registrations].map(([name, registration]) => [name, { ...registration }])),
    reducers: new Map([...core.reducers].map(([event, list]) => [event, [...list]])),
  };
}
