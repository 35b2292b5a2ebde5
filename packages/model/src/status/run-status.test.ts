import { describe, expect, it } from 'vitest';
import { contractRunStatus, runPatch } from '../contract/run.ts';
import { guidedRunStatus, guidedToContractRunStatus, runStatus, toContractRunStatus } from './run-status.ts';

describe('run statuses', () => {
  it('[M46] all have a contract view', () => {
    const views = Object.fromEntries(runStatus.options.map(status => [status, toContractRunStatus(status, 'why')]));
    expect(views).toEqual({
      queued: { status: 'queued' },
      running: { status: 'running' },
      waiting: { status: 'paused' },
      paused: { status: 'paused' },
      completed: { status: 'completed' },
      failed: { status: 'failed' },
      stopped: { status: 'failed', stopReason: 'why' },
      stalled: { status: 'paused' },
    });
  });

  it('[M46] reach every contract status, and make a valid patch', () => {
    const views = runStatus.options.map(status => toContractRunStatus(status));
    expect(new Set(views.map(view => view.status))).toEqual(new Set(contractRunStatus.options));
    expect(views.map(view => runPatch.parse(view))).toEqual(views);
  });

  it('[M46] say stopped where no reason was given', () => {
    expect(toContractRunStatus('stopped')).toEqual({ status: 'failed', stopReason: 'stopped' });
  });

  it.each(['', 'Running', 'in_progress', 'cancelled', null])('[M46] do not include %j', value => {
    expect(runStatus.safeParse(value).success).toBe(false);
  });

  it('[M47] of guided runs all have a contract view', () => {
    expect(guidedRunStatus.options.map(status => [status, guidedToContractRunStatus(status)])).toEqual([
      ['in_progress', 'running'],
      ['blocked', 'paused'],
      ['complete', 'completed'],
      ['complete_with_gaps', 'completed'],
    ]);
  });
});
