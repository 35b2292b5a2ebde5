import type { DatabaseSync } from 'node:sqlite';
import { sqliteCode } from '@signalbox/journal';
import { type ErrorEnvelope, err, failure, type Json, ok, type Result, type RunId } from '@signalbox/model';
import {
  type CommitError,
  type CommitNotice,
  type Committed,
  checkCommit,
  type Guard,
  refused,
  type WriteSet,
} from '@signalbox/runs';
import { SQLITE_CONSTRAINT, SQLITE_IOERR } from '../sqlite/connection.ts';
import { StoreFault } from '../sqlite/json-column.ts';
import type { Applied } from './commit-rows.ts';

/**
 * Commits that wait at the same time share one transaction and one fsync.
 *
 * G1  Nothing is answered or published before COMMIT. That includes refusals: one may depend on another member's writes.
 * G2  Each member has its own savepoint: one that is refused or violates a constraint fails alone.
 * G3  If COMMIT fails, or the transaction is gone (as when the disk is full), the whole group is void: every member runs again, alone.
 * G4  Members are applied, answered and published in order of arrival.
 * G5  Callers never wait for listeners: all members are answered, and run as far as they can, before anything is published. Listeners are
 *     notified before any new input is processed.
 */
export interface GroupCommit {
  commit(writes: WriteSet, guard: Guard): Promise<Result<Committed, CommitError>>;
  /** Any other work that must be durable before it is answered, as a member of its own. `apply` may run again after a rollback. */
  join<Answer, Refusal>(
    subject: Subject,
    apply: () => Result<Answer, Refusal>,
  ): Promise<Result<Answer, Refusal | GroupFault>>;
  /** Publishes commits that are already answered. A listener that subscribes or unsubscribes gets exactly the commits in between. */
  tellAll(): void;
  /** Commits the waiting members and accepts no more. */
  close(): void;
}

export interface GroupCommitOptions {
  readonly database: DatabaseSync;
  readonly apply: (writes: WriteSet, guard: Guard) => Result<Applied, CommitError>;
  readonly tell: (notices: readonly CommitNotice[]) => void;
  /** Called before a transaction and after a rollback: caches of its writes are stale. */
  readonly onBegin: () => void;
  readonly onRollback: () => void;
}

/** What a member writes to, for its errors. */
interface Subject {
  /** Such as "run 3f2a…". */
  readonly name: string;
  readonly details: { readonly [key: string]: Json };
  /** Why nothing was written, if a constraint was violated. */
  readonly refused: (why: string) => ErrorEnvelope;
}

/** Failures of the group, whatever a member is about. */
type GroupFault = ErrorEnvelope<'STORE_IO_FAILED' | 'store/outcome-unknown'>;

type Outcome = Result<{ readonly answer: unknown; readonly notice?: CommitNotice }, unknown>;

interface Member {
  readonly subject: Subject;
  readonly apply: () => Outcome;
  readonly answer: (outcome: Result<unknown, unknown>) => void;
}

/** A group blocks the thread while it commits; later commits wait for the next group. */
const MAX_GROUP = 256;

export function groupCommit(options: GroupCommitOptions): GroupCommit {
  const { database, apply, tell, onBegin, onRollback } = options;
  const waiting: Member[] = [];
  /** Durable and answered commits that are not published yet. */
  const untold: CommitNotice[] = [];
  let isScheduled = false;
  let isClosed = false;
  const statements = {
    begin: database.prepare('begin immediate'),
    commit: database.prepare('commit'),
    rollback: database.prepare('rollback'),
    savepoint: database.prepare('savepoint member'),
    release: database.prepare('release member'),
    undo: database.prepare('rollback to member'),
  };

  function flush(): void {
    isScheduled = false;
    const members = waiting.splice(0, MAX_GROUP);
    if (waiting.length > 0) scheduleFlush();
    if (members.length === 0) return;
    const outcomes = (members.length > 1 ? tryTogether(members) : undefined) ?? members.map(runAlone);
    for (const [index, member] of members.entries()) {
      const outcome = outcomes[index];
      if (outcome !== undefined) member.answer(outcome.ok ? ok(outcome.value.answer) : outcome);
    }
    for (const outcome of outcomes)
      if (outcome.ok && outcome.value.notice !== undefined) untold.push(outcome.value.notice);
    // A tick requested by a microtask runs after all microtasks, including those of the answers.
    queueMicrotask(() => process.nextTick(tellAll));
  }

  function tellAll(): void {
    if (untold.length > 0) tell(untold.splice(0));
  }

  /** The outcomes of all members, or undefined if the group is void. */
  function tryTogether(members: readonly Member[]): readonly Outcome[] | undefined {
    onBegin();
    try {
      statements.begin.run();
      const outcomes = members.map(inSavepoint);
      statements.commit.run();
      return outcomes;
    } catch (cause) {
      abandon();
      if (sqliteCode(cause) === undefined) throw cause;
      return undefined;
    }
  }

  function inSavepoint(member: Member): Outcome {
    statements.savepoint.run();
    const outcome = attempt(member);
    if (!outcome.ok) {
      statements.undo.run();
      onRollback();
    }
    statements.release.run();
    return outcome;
  }

  function runAlone(member: Member): Outcome {
    onBegin();
    let isCommitting = false;
    try {
      statements.begin.run();
      const outcome = attempt(member);
      if (!outcome.ok) {
        abandon();
        return outcome;
      }
      isCommitting = true;
      statements.commit.run();
      return outcome;
    } catch (cause) {
      abandon();
      return err(commitFailure(member.subject, cause, isCommitting));
    }
  }

  /** Failures of this member are its outcome; failures of the transaction are thrown. */
  function attempt({ subject, apply: run }: Member): Outcome {
    try {
      return run();
    } catch (cause) {
      if (cause instanceof StoreFault) return err(faultOf(subject, cause));
      if (sqliteCode(cause) !== SQLITE_CONSTRAINT || !database.isTransaction) throw cause;
      return err(subject.refused(messageOf(cause)));
    }
  }

  function abandon(): void {
    onRollback();
    if (database.isTransaction) statements.rollback.run();
  }

  function scheduleFlush(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(flush);
  }

  async function member(subject: Subject, work: () => Outcome): Promise<Result<unknown, unknown>> {
    if (isClosed) return err(closed());
    return await new Promise(answer => {
      waiting.push({ subject, apply: work, answer });
      scheduleFlush();
    });
  }

  return {
    async commit(writes, guard) {
      const checked = checkCommit(writes, guard);
      if (!checked.ok) return checked;
      const { writes: kept, guard: given } = checked.value;
      const outcome = await member(runSubject(given.run), () => {
        const applied = apply(kept, given);
        return applied.ok ? ok({ answer: applied.value.committed, notice: applied.value.notice }) : applied;
      });
      // The answer of this member's own work.
      return outcome as Result<Committed, CommitError>;
    },
    async join<Answer, Refusal>(subject: Subject, work: () => Result<Answer, Refusal>) {
      const outcome = await member(subject, () => {
        const done = work();
        return done.ok ? ok({ answer: done.value }) : done;
      });
      return outcome as Result<Answer, Refusal | GroupFault>;
    },
    tellAll,
    close() {
      isClosed = true;
      while (waiting.length > 0) flush();
      tellAll();
    },
  };
}

function runSubject(run: RunId): Subject {
  return { name: `run ${run}`, details: { run }, refused: why => refused(run, why) };
}

/** Why a member that ran alone did not commit. The outcome is unknown only if the disk interrupted COMMIT. */
function commitFailure(
  { name, details, refused: violated }: Subject,
  cause: unknown,
  isCommitting: boolean,
): ErrorEnvelope {
  const code = sqliteCode(cause);
  if (code === undefined) throw cause;
  if (code === SQLITE_CONSTRAINT) return violated(messageOf(cause));
  if (isCommitting && code === SQLITE_IOERR) {
    return failure('store/outcome-unknown', {
      message: `The disk failed while a commit of ${name} was being written: the commit may or may not exist after a restart.`,
      suggestion:
        'Make sure that the disk works, restart, and read what was committed: it says whether the commit exists.',
      details: { ...details, sqliteCode: code },
    });
  }
  return failure('STORE_IO_FAILED', {
    message: `Nothing was written to ${name}: ${messageOf(cause)}.`,
    suggestion: 'Make sure that the disk is writable and not full, then commit again: it is safe to repeat.',
    retry: { kind: 'retryable_immediate' },
    details: { ...details, sqliteCode: code },
  });
}

function faultOf({ name, details }: Subject, { envelope }: StoreFault): ErrorEnvelope<'STORE_IO_FAILED'> {
  return failure('STORE_IO_FAILED', {
    message: `Nothing was written to ${name}. ${envelope.message}`,
    suggestion: envelope.suggestion,
    retry: envelope.retry,
    details: { ...(isObject(envelope.details) && envelope.details), ...details, cause: envelope.code },
  });
}

function closed(): ErrorEnvelope<'STORE_IO_FAILED'> {
  return failure('STORE_IO_FAILED', {
    message: 'The store was closed before the commit.',
    suggestion: 'Open the store again.',
  });
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

function isObject(details: ErrorEnvelope['details']): details is { readonly [key: string]: Json } {
  return typeof details === 'object' && details !== null && !Array.isArray(details);
}
