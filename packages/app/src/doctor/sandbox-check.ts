import { detectSandbox } from '@signalbox/state';
import { readCommandSettings } from '../sandbox/command-config.ts';
import { UNCONFINED_HINT } from '../sandbox/unconfined-hint.ts';
import { type Check, failed, passed, warned } from './check.ts';

const NAME = 'sandbox';

/** Whether the commands of agents can be confined here, and what happens to them if not; really tried. */
export async function checkSandbox(
  dataDirectory: string,
  detect: typeof detectSandbox = detectSandbox,
): Promise<Check> {
  const settings = readCommandSettings(dataDirectory);
  if (!settings.ok) return failed(NAME, settings.error, 'Correct the file; until then no command runs unconfined.');
  const sandbox = await detect();
  if (sandbox.ok) return passed(NAME, "agents' commands are confined");
  const { message, suggestion } = sandbox.error;
  if (settings.value.allowUnconfined) {
    return warned(
      NAME,
      `${message}; they run unconfined, by configuration`,
      `${suggestion} Unconfined commands read and change whatever you can; each waits for a person.`,
    );
  }
  return warned(NAME, message, `${suggestion} Without it, agents' commands are refused. ${UNCONFINED_HINT}`);
}
