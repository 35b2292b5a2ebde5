import { type RunId, taskStatus } from '@signalbox/model';
import { seededRng } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { at, freshId, owner, task as taskOf } from '../../test/builders.ts';
import { classifyFailure } from './error-class.ts';
import { forgetDeaths, ownerDeathsOf, recoverOrphan } from './orphan-policy.ts';
import { releaseTask } from './release-task.ts';
import { decideRetry, HELD_BACK, MAX_BACKOFF_MS, retryWaitMs } from './retry.ts';
import type { Task } from './task.ts';
import type { TaskError } from './task-error.ts';
import { cancelTask, failTask, finishTask, mayTaskFollow, startTask } from './task-lifecycle.ts';

const run = freshId<RunId>();
const task = (fields: Partial<Task> = {}) => taskOf(run, fields);
const busy: TaskError = { class: 'retryable', code: '429', message: 'busy' };

describe('a task', () => {
  it('[L5] goes from pending over running to its end', () => {
    const running = startTask(task({ nextRetryAt: at(3), blockReason: 'rate_limit' }), owner('me'), at(5));
    expect(running).toEqual(task({ status: 'running', leaseOwner: owner('me'), startedAt: at(5) }));
    expect(finishTask(running, { answer: 42 }, at(6))).toEqual(
      task({ status: 'done', startedAt: at(5), endedAt: at(6), result: { answer: 42 } }),
    );
    expect(failTask(running, busy, at(6))).toEqual(
      task({ status: 'error', startedAt: at(5), endedAt: at(6), lastError: busy }),
    );
  });

  it('[L5] that is canceled before it starts is over; while it runs it is asked, and keeps what still came out', () => {
    expect(cancelTask(task(), at(1))).toEqual(task({ status: 'canceled', endedAt: at(1) }));
    const canceling = cancelTask(startTask(task(), owner('me'), at(1)), at(2));
    expect(canceling.status).toBe('canceling');
    expect(finishTask(canceling, 'late', at(3))).toMatchObject({ status: 'canceled', result: 'late', endedAt: at(3) });
    expect(failTask(canceling, busy, at(3))).toMatchObject({ status: 'canceled', lastError: busy });
  });

  it('[L5] that is done stays done, and none starts without having been pending', () => {
    expect(taskStatus.options.filter(to => mayTaskFollow('done', to))).toEqual(['done']);
    expect(taskStatus.options.filter(from => mayTaskFollow(from, 'running'))).toEqual(['pending', 'running']);
    expect(() => startTask(task({ status: 'done' }), owner('me'), at())).toThrow('cannot go from done to running');
  });
});

describe('the retry of a task', () => {
  const wait = (fields: Partial<Task>, error: TaskError, seed = 1) => {
    const decided = decideRetry(task({ status: 'running', ...fields }), error, 10_000, seededRng(seed));
    return decided.kind === 'retry' ? decided.waitMs : decided.reason;
  };

  it('[L6] comes three times by default, each after a longer wait, and is written into the task', () => {
    expect(decideRetry(task({ status: 'running', leaseOwner: owner('me') }), busy, 10_000, seededRng(7))).toEqual({
      kind: 'retry',
      waitMs: wait({}, busy, 7),
      task: task({
        retryCount: 1,
        lastError: busy,
        nextRetryAt: new Date(10_000 + Number(wait({}, busy, 7))).toISOString() as Task['nextRetryAt'],
      }),
    });
    expect([0, 1, 2, 3].map(retryCount => typeof wait({ retryCount }, busy))).toEqual([
      'number',
      'number',
      'number',
      'string',
    ]);
    expect(wait({ retryCount: 3 }, busy)).toBe('exhausted');
  });

  it('[L66] does not count an attempt that was held back', () => {
    const error: TaskError = { class: 'retryable', code: HELD_BACK, message: 'the process ended', retryAfterMs: 700 };
    expect(decideRetry(task({ status: 'running', retryCount: 3 }), error, 10_000, seededRng(1))).toEqual({
      kind: 'retry',
      waitMs: 700,
      task: task({
        retryCount: 3,
        lastError: error,
        nextRetryAt: new Date(10_700).toISOString() as Task['nextRetryAt'],
      }),
    });
  });

  it('[L6] waits between half and all of a doubled backoff, at most five minutes', () => {
    for (let seed = 0; seed < 200; seed++) {
      for (const retryCount of [0, 1, 2]) {
        const full = 1_000 * 2 ** retryCount;
        const waited = Number(wait({ retryCount }, busy, seed));
        expect(waited).toBeGreaterThanOrEqual(full / 2);
        expect(waited).toBeLessThanOrEqual(full);
      }
    }
    const waits = new Set(Array.from({ length: 20 }, (_, seed) => wait({}, busy, seed)));
    expect(waits.size).toBeGreaterThan(10);
    expect(Number(wait({ retryCount: 40, maxRetries: 99 }, busy))).toBeLessThanOrEqual(MAX_BACKOFF_MS);
  });

  it('[L6] never comes before the provider allows it', () => {
    expect(wait({}, { ...busy, retryAfterMs: 90_000 })).toBe(90_000);
  });

  it('[L6] is due at the same moment whoever asks after a restart', () => {
    const waiting = task({ nextRetryAt: at(30) });
    expect([at(0), at(29), at(30), at(31)].map(now => retryWaitMs(waiting, Date.parse(now)))).toEqual([
      30_000, 1_000, 0, 0,
    ]);
    expect(retryWaitMs(task(), 0)).toBe(0);
  });

  it('[L7] never comes after a terminal error, nor blindly after an unknown outcome', () => {
    expect(wait({}, { ...busy, class: 'terminal' })).toBe('terminal');
    expect(wait({ effects: 'external' }, { ...busy, class: 'unknown' })).toBe('outcome-unknown');
    expect(typeof wait({ effects: 'none' }, { ...busy, class: 'unknown' })).toBe('number');
    expect(typeof wait({ effects: 'undoable' }, { ...busy, class: 'unknown' })).toBe('number');
    expect(typeof wait({ effects: 'external' }, busy)).toBe('number');
  });
});

describe('the class of a failure', () => {
  it('[L7] is retryable where it passes, terminal where it does not', () => {
    const classes = (statuses: readonly number[]) =>
      new Set(statuses.map(status => classifyFailure({ status }, 'none')));
    expect(classes([408, 425, 429, 500, 502, 503, 504, 529])).toEqual(new Set(['retryable']));
    expect(classes([400, 401, 403, 404, 409, 422, 501])).toEqual(new Set(['terminal']));
    expect(classifyFailure({}, 'none')).toBe('terminal');
    expect(classifyFailure({ systemCode: 'EACCES' }, 'none')).toBe('terminal');
  });

  it('[L7] is unknown where the work may have happened and cannot be undone', () => {
    const facts = [{ status: 500 }, { status: 504 }, { timedOut: true }, { systemCode: 'ECONNRESET' }];
    expect(facts.map(fact => classifyFailure(fact, 'external'))).toEqual(facts.map(() => 'unknown'));
    expect(facts.map(fact => classifyFailure(fact, 'undoable'))).toEqual(facts.map(() => 'retryable'));
    expect(classifyFailure({ status: 429 }, 'external')).toBe('retryable');
    expect(classifyFailure({ systemCode: 'ECONNREFUSED' }, 'external')).toBe('retryable');
  });

  it('[L7] is what our own envelopes say', () => {
    expect(classifyFailure({ retry: { kind: 'not_retryable' }, status: 503 }, 'none')).toBe('terminal');
    expect(classifyFailure({ retry: { kind: 'retryable_after_ms', afterMs: 5 } }, 'none')).toBe('retryable');
  });
});

describe('a task whose run ends', () => {
  const under = task({ status: 'running', leaseOwner: owner('me'), startedAt: at(1), retryCount: 2 });

  it('[L70] is pending again, and no retry is counted', () => {
    expect(releaseTask(under, at(9))).toEqual({ kind: 'retry', task: task({ startedAt: at(1), retryCount: 2 }) });
  });

  it('[L70] is canceled if it was being canceled, and a question where it has effects outside', () => {
    expect(releaseTask({ ...under, status: 'canceling' }, at(9))).toEqual({
      kind: 'cancel',
      task: task({ status: 'canceled', startedAt: at(1), endedAt: at(9), retryCount: 2 }),
    });
    expect(releaseTask({ ...under, effects: 'external' }, at(9))).toMatchObject({
      kind: 'ask',
      task: { status: 'orphaned', lastError: { class: 'unknown', code: 'run-ended' } },
    });
  });
});

describe('a task whose owner is gone', () => {
  const left = task({ status: 'running', leaseOwner: owner('dead'), startedAt: at(1) });
  const recovery = { at: at(9), owner: owner('next') };
  const lastError = expect.objectContaining({ code: 'owner-gone', class: 'retryable' });

  it('[L8] starts again at once where its node wants that', () => {
    expect(recoverOrphan(left, 'retry', recovery)).toEqual({
      kind: 'retry',
      task: { ...task({ startedAt: at(1) }), lastError },
    });
  });

  it('[L8] is given up where its node wants that', () => {
    const abandoned = { ...task({ status: 'orphaned', startedAt: at(1), endedAt: at(9) }), lastError };
    expect(recoverOrphan(left, 'fail', recovery)).toEqual({ kind: 'abandon', task: abandoned });
  });

  it('[L8] is a question to a person where it may have changed what cannot be undone', () => {
    expect(recoverOrphan({ ...left, effects: 'external' }, 'retry', recovery)).toMatchObject({
      kind: 'ask',
      task: { status: 'orphaned', lastError: { class: 'unknown' } },
    });
    expect(recoverOrphan(left, 'ask', recovery).kind).toBe('ask');
  });

  it('[L8] is canceled if it was being canceled', () => {
    expect(recoverOrphan({ ...left, status: 'canceling', effects: 'external' }, 'retry', recovery)).toMatchObject({
      kind: 'cancel',
      task: { status: 'canceled', endedAt: at(9) },
    });
  });

  it('[L81] loses no retry by it, however often, and keeps each death until an attempt ends by itself', () => {
    let now = left;
    for (let death = 0; death < 5; death++) {
      const former = { id: owner(`owner ${death}`), seenAt: at(10 * death + 5) };
      const running = { ...now, status: 'running' as const, leaseOwner: former.id, startedAt: at(10 * death) };
      now = recoverOrphan(running, 'retry', { at: at(10 * death + 9), owner: owner('next'), former }).task;
    }
    expect(now).toMatchObject({ status: 'pending', retryCount: 0 });
    expect(ownerDeathsOf(now)).toEqual(
      [0, 1, 2, 3, 4].map(death => ({
        owner: `owner ${death}`,
        startedAt: at(10 * death),
        seenAt: at(10 * death + 5),
        foundAt: at(10 * death + 9),
      })),
    );
    const failed = decideRetry(now, { class: 'retryable', code: 'threw', message: 'no' }, 0, seededRng(1));
    expect(failed.kind === 'retry' && ownerDeathsOf(failed.task)).toEqual([]);
    expect(ownerDeathsOf(forgetDeaths(now))).toEqual([]);
  });

  it('[L81] that only lost its thread counts no death, and says nothing of an owner it does not know', () => {
    expect(ownerDeathsOf(recoverOrphan(left, 'retry', { at: at(9), owner: owner('dead') }).task)).toEqual([]);
    const former = { id: owner('another'), seenAt: at(5) };
    expect(ownerDeathsOf(recoverOrphan(left, 'retry', { ...recovery, former }).task)).toEqual([
      { owner: 'dead', startedAt: at(1), foundAt: at(9) },
    ]);
  });
});
