import { type ErrorEnvelope, failure } from '@signalbox/model';

/** The code of a plan ended the thread that loads it. */
export function planLost(file: string, reason: string): ErrorEnvelope<'run/thread-lost'> {
  return failure('run/thread-lost', {
    message: `The plan ${file} could not be loaded: its thread was lost, ${reason}.`,
    suggestion: 'Look for code in the plan that never ends, or ends the process, when it is imported.',
  });
}
