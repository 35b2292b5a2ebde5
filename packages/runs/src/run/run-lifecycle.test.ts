import { type RunStatus, runStatus } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { hasRunEnded, mayRunFollow } from './run-lifecycle.ts';

const all = runStatus.options;
const reachable = (from: RunStatus): ReadonlySet<RunStatus> => {
  const seen = new Set<RunStatus>([from]);
  for (const status of seen) for (const next of all) if (mayRunFollow(status, next)) seen.add(next);
  return seen;
};

describe('the status of a run', () => {
  it('[L4] never returns to queued, and completed is the end', () => {
    expect(all.filter(from => from !== 'queued' && mayRunFollow(from, 'queued'))).toEqual([]);
    expect(all.filter(to => mayRunFollow('completed', to))).toEqual(['completed']);
  });

  it('[L4] completes and stalls only from running', () => {
    expect(all.filter(from => mayRunFollow(from, 'completed'))).toEqual(['running', 'completed']);
    expect(all.filter(from => mayRunFollow(from, 'stalled'))).toEqual(['running', 'stalled']);
  });

  it('[L4] can be stopped wherever it has not ended, and taken up again where it did not complete', () => {
    expect(all.filter(from => mayRunFollow(from, 'stopped'))).toEqual(
      all.filter(s => s === 'stopped' || !hasRunEnded(s)),
    );
    expect(all.filter(from => mayRunFollow(from, 'running'))).toEqual(all.filter(s => s !== 'completed'));
  });

  it('[L4] reaches every end from the start', () => {
    expect([...reachable('queued')].sort()).toEqual([...all].sort());
  });
});
