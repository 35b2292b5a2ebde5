import { detectSandbox } from '@signalbox/state';
import { type Check, passed, warned } from './check.ts';

/** Whether the commands of agents can be confined here; it is tried for real. */
export async function checkSandbox(detect: typeof detectSandbox = detectSandbox): Promise<Check> {
  const sandbox = await detect();
  if (sandbox.ok) return passed('sandbox', 'commands of agents are confined');
  return warned(
    'sandbox',
    sandbox.error.message,
    `${sandbox.error.suggestion} Without it, every command that an agent wants to run waits for a person.`,
  );
}
