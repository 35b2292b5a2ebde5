import type { WireDecision } from '@signalbox/model';

/** What it does by asking, after the name of who asks. */
export const kindWords: Record<WireDecision['decision']['kind'], string> = {
  file_edit: 'wants to change files',
  command_exec: 'wants to run a command',
  external_api: 'wants to call something outside',
  human: 'asks you',
  choice: 'asks you to choose',
  confirmation: 'asks you to confirm',
  review: 'asks for your review',
};
