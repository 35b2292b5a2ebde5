import type { FramePair, RunComparison } from '@signalbox/model';
import { many } from '../story/words.ts';

/** Every text of the page, in the order of the page. */
export const compareWords = {
  title: 'Compare runs',
  first: 'Run A',
  second: 'Run B',
  choose: 'Choose a run',
  swap: 'Swap',
  hint: 'Choose two runs. Forks are compared with their parent from the frame where they begin.',
  noPrevious: 'No earlier run of this plan. Choose one to compare with.',
  loading: 'Comparing…',
  failed: 'Could not compare these runs',
  facts: 'Facts',
  status: 'Status',
  time: 'Time',
  frames: 'Frames',
  cost: 'Cost',
  tokens: 'Tokens',
  toolCalls: 'Tool calls',
  error: 'Error',
  part: 'Where they part',
  never: (same: number) => `The same in all ${many(same, 'frame')}.`,
  sameUntil: (same: number) =>
    same === 0 ? 'They differ from the first frame.' : `The same for ${many(same, 'frame')}, then they part.`,
  sameFrame: 'same again',
  onlyIn: (side: 'A' | 'B') => `only in ${side}`,
  more: (count: number) => `${many(count, 'more frame')} not shown.`,
  input: 'Input',
  state: 'State',
  output: 'Output',
  plan: 'Plan files',
  files: 'Changed files',
  decisions: 'Decisions',
  work: 'Work',
  alike: 'same content',
  unlike: 'different content',
  none: '–',
  differsIn: 'Differs in',
  sameEnd:
    'Both have the same plan, input and files, end with the same state and output, and had the same decisions and work.',
} as const;

export const relationWords: Readonly<Record<RunComparison['relation']['kind'], string>> = {
  same: 'This is the same run.',
  fork: 'One is a fork of the other',
  siblings: 'Both are forks of the same run',
  'same-plan': 'Two runs of the same plan.',
  'other-plans': 'Runs of different plans.',
};

export const differsWords: Readonly<Record<FramePair['differs'][number], string>> = {
  plan: 'plan',
  status: 'status',
  state: 'state',
};
