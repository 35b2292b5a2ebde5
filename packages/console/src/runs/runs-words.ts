import type { RunsView } from '../story/runs-list.ts';

/** Every text of the list of runs, in the order of the page. */
export const runsWords = {
  title: 'Runs',
  search: 'Search runs',
  searchPlaceholder: 'Name, tag, plan or id…',
  compare: 'Compare…',
  chooseTwo: 'Choose two runs',
  chooseOther: 'Choose another run',
  start: 'Start a run',
  loading: 'Loading runs…',
  none: 'No runs yet',
  noMatch: 'No matching runs',
  showAll: (count: number) => `Show all ${count}`,
  orOlder: ', or search older runs below.',
  startHere: 'Start one here',
  orTerminal: ', or in a terminal: ',
  command: 'signalbox run PLAN.tsx',
  older: 'Older runs',
} as const;

export const viewWords: Readonly<Record<RunsView, string>> = {
  all: 'All',
  active: 'Working',
  waiting: 'Waiting',
  done: 'Completed',
  failed: 'Failed',
};
