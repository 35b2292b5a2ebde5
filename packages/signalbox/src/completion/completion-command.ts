import { usageError } from '@signalbox/app';
import type { DefineCommand } from '../command.ts';
import { exitCodeOf, exitCodes } from '../exit-code.ts';
import { reportError } from '../terminal.ts';
import { completionScripts, type Shell } from './completion-scripts.ts';

export const defineCompletion: DefineCommand = (command, { terminal, end }) => {
  command
    .description('Prints a script that makes a shell complete commands, options, runs and decisions.')
    .addHelpText(
      'after',
      `
Examples:
  $ echo 'source <(signalbox completion bash)' >> ~/.bashrc
  $ echo 'source <(signalbox completion zsh)' >> ~/.zshrc
  $ signalbox completion fish > ~/.config/fish/completions/signalbox.fish`,
    )
    .action((shell: string) => {
      if (Object.hasOwn(completionScripts, shell)) return terminal.print(completionScripts[shell as Shell]);
      const known = Object.keys(completionScripts).join(', ');
      const error = usageError(`There is no completion for ${shell}.`, `Name one of: ${known}.`);
      reportError(terminal, error, false);
      end(exitCodeOf(error));
    });
};

/** Prints the candidates for the last of the words; called by the scripts. */
export const defineComplete: DefineCommand = (command, context) => {
  command
    .description('Prints the candidates for the last of the given words, for the scripts of "signalbox completion".')
    .addHelpText('after', '\nExample:\n  $ signalbox complete -- show ""')
    .action(async (words: readonly string[]) => {
      const { candidates } = await import('./candidates.ts');
      for (const { text, what } of await candidates(words, context)) context.terminal.print(`${text}\t${what}`);
      context.end(exitCodes.done);
    });
};
