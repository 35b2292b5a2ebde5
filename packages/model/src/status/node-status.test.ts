import { describe, expect, it } from 'vitest';
import { nodeStatus, taskStatus, toContractNodeStatus } from './node-status.ts';

describe('node statuses', () => {
  it('[M48] all have a contract view', () => {
    expect(nodeStatus.options.map(status => [status, toContractNodeStatus(status)])).toEqual([
      ['idle', 'idle'],
      ['scheduled', 'idle'],
      ['running', 'running'],
      ['succeeded', 'idle'],
      ['failed', 'failed'],
      ['blocked', 'blocked'],
      ['canceled', 'idle'],
      ['abandoned', 'failed'],
      ['skipped', 'idle'],
    ]);
  });

  it('[M48] of tasks are a closed set', () => {
    expect(taskStatus.options).toEqual(['pending', 'running', 'canceling', 'done', 'error', 'canceled', 'orphaned']);
    expect(['cancelled', 'succeeded', '', null].filter(value => taskStatus.safeParse(value).success)).toEqual([]);
  });
});
