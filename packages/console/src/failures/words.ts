import { many } from '../story/words.ts';

/** Every text of failures: of their page, and of a failed node on the page of its run. */
export const words = {
  page: 'Failures',
  loading: 'Loading…',
  none: 'No failures',
  noneWhy: 'Failed runs appear here, grouped by cause.',
  notLoaded: 'Could not load failures',
  sum: (failures: number, causes: number) => `${many(failures, 'failure')}, ${many(causes, 'cause')}`,
  flag: 'Flag plans after',
  flagUnit: 'consecutive failures',
  streak: (count: number) => `failed ${many(count, 'time')} in a row.`,
  runs: (count: number) => (count === 1 ? 'run' : 'runs'),
  retry: (count: number) => (count === 1 ? 'Retry' : 'Retry all'),
  cancelAll: 'Cancel all…',
  someFailed: 'Some actions failed',
  actionFailed: 'Action failed',
  more: (count: number) => `${count} more`,
  stop: (count: number) => `Stop ${many(count, 'run')}?`,
  stopWord: 'Stop runs',
  stopDoes: 'Their running work is canceled.',
  retryNode: 'Retry',
  rerun: 'Edit and rerun…',
  rerunTitle: (label: string) => `Edit and rerun from ${label}`,
  log: (attempts: number) => (attempts > 1 ? `Log of attempt ${attempts}` : 'Log'),
  emptyLog: 'It wrote nothing.',
  before: (count: number) => (count === 0 ? 'This failure is new.' : `The same failure before: ${many(count, 'run')}`),
} as const;
