import type { FindKind } from '@signalbox/model';
import { many } from '../story/words.ts';

/** Every text of the page, in the order of the page. */
export const findWords = {
  title: 'Find',
  field: 'Find anything',
  placeholder: 'A word, a "phrase", a file name or an id',
  kinds: 'Kind of result',
  inRun: 'In one run',
  anywhere: 'Search all runs',
  anyTime: 'Any time',
  since: { hour: 'Last hour', day: 'Last day', week: 'Last week' },
  sinceLabel: 'Time',
  start: 'Search runs, messages, tool calls, files, artifacts and notes',
  hint: 'Every word must occur. A word may be cut short; put words that belong together in quotation marks.',
  loading: 'Searching…',
  nothing: 'No results',
  less: 'Try fewer words, or remove a filter.',
  clear: 'Clear filters',
  failed: 'Search failed',
  more: 'More results',
  behind: (count: number) => `${many(count, 'run')} changed and will be found in a moment.`,
} as const;

export const kindWords: Readonly<Record<FindKind, readonly [one: string, more: string]>> = {
  run: ['Run', 'Runs'],
  node: ['Node', 'Nodes'],
  message: ['Message', 'Messages'],
  call: ['Tool call', 'Tool calls'],
  file: ['File', 'Files'],
  artifact: ['Artifact', 'Artifacts'],
  note: ['Note', 'Notes'],
};
