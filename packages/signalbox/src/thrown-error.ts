import { type ErrorEnvelope, thrownDamage, unexpectedError, usageError } from '@signalbox/app';
import { CommanderError } from 'commander';
import { Refused } from './data-directory-option.ts';

/**
 * What was thrown, as the one shape of errors: a command line that is wrong, damage in what is stored, or something that nobody
 * foresaw.
 */
export function thrownError(thrown: unknown, command: string | undefined): ErrorEnvelope {
  if (thrown instanceof Refused) return thrown.envelope;
  if (thrown instanceof CommanderError) return wrongCommandLine(thrown, command);
  return thrownDamage(thrown) ?? unexpectedError(thrown);
}

/** Commander's words as ours: the message, and the nearest name that it knows, if there is one. */
function wrongCommandLine(error: CommanderError, command: string | undefined): ErrorEnvelope {
  const [said = '', ...rest] = error.message.replace(/^error: /, '').split('\n');
  const nearest = /\(Did you mean (?:one of )?(.+)\?\)/.exec(rest.join(' '))?.[1];
  const help = `signalbox ${command === undefined ? '' : `${command} `}--help`;
  return usageError(
    `${said.charAt(0).toUpperCase()}${said.slice(1).replace(/\.$/, '')}.`,
    nearest === undefined ? `See "${help}".` : `Did you mean ${nearest}? See "${help}".`,
  );
}
