import type { CommanderError } from 'commander';

/** What is wrong with a command line, and what to do. */
export interface UsageProblem {
  readonly message: string;
  readonly suggestion: string;
}

/** Commander's words as ours: the message, and the nearest name that it knows, if there is one. */
export function usageProblem(error: CommanderError, command: string | undefined): UsageProblem {
  const [said = '', ...rest] = error.message.replace(/^error: /, '').split('\n');
  const nearest = /\(Did you mean (?:one of )?(.+)\?\)/.exec(rest.join(' '))?.[1];
  const help = `signalbox ${command === undefined ? '' : `${command} `}--help`;
  return {
    message: `${said.charAt(0).toUpperCase()}${said.slice(1).replace(/\.$/, '')}.`,
    suggestion: nearest === undefined ? `See "${help}".` : `Did you mean ${nearest}? See "${help}".`,
  };
}
