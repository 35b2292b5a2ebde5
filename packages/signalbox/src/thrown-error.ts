import { type ErrorEnvelope, thrownDamage, unexpectedError, usageError } from '@signalbox/app';
import { CommanderError } from 'commander';
import { Refused } from './data-directory-option.ts';
import { namedPathError } from './named-path.ts';

/**
 * Converts a thrown value to an error envelope: a wrong command line, a path in it that cannot be used, damaged data, or an unexpected
 * error.
 */
export function thrownError(thrown: unknown, command: string | undefined, argv: readonly string[]): ErrorEnvelope {
  if (thrown instanceof Refused) return thrown.envelope;
  if (thrown instanceof CommanderError) return wrongCommandLine(thrown, command);
  return thrownDamage(thrown) ?? namedPathError(thrown, argv) ?? unexpectedError(thrown);
}

/** Splits commander's message into the message and the nearest known name, if any. */
function wrongCommandLine(error: CommanderError, command: string | undefined): ErrorEnvelope {
  const [said = '', ...rest] = error.message.replace(/^error: /, '').split('\n');
  const nearest = /\(Did you mean (?:one of )?(.+)\?\)/.exec(rest.join(' '))?.[1];
  const help = `signalbox ${command === undefined ? '' : `${command} `}--help`;
  return usageError(
    `${said.charAt(0).toUpperCase()}${said.slice(1).replace(/\.$/, '')}.`,
    nearest === undefined ? `See "${help}".` : `Did you mean ${nearest}? See "${help}".`,
  );
}
