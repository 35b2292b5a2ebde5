import type { WireDecision } from '@signalbox/model';

/** The request, after the name of the asker. */
export const kindWords: Record<WireDecision['decision']['kind'], string> = {
  file_edit: 'wants to change files',
  command_exec: 'wants to run a command',
  external_api: 'wants to call an external service',
  human: 'asks you',
  choice: 'asks you to choose',
  confirmation: 'asks you to confirm',
  review: 'asks for your review',
};
