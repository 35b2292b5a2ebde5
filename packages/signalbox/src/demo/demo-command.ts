import { usageError } from '@signalbox/app';
import type { DefineCommand } from '../command.ts';
import { exitCodeOf, exitCodes } from '../exit-code.ts';
import { portOf } from '../serving/port.ts';
import { reportError } from '../terminal.ts';

interface DemoFlags {
  readonly scenes?: boolean;
  readonly dir?: string;
  readonly port: string;
  readonly open: boolean;
  readonly json?: boolean;
}

export const defineDemo: DefineCommand = (command, context) => {
  const { terminal, signals, end } = context;
  command
    .description(
      'Starts the server and the console with sample runs: one that works, one that asks you and continues, one that failed, one ' +
        'with a fork, a guided session that an agent walks, and a fleet whose agents play a scenario. Models are scripted: no ' +
        'keys, no network. Ctrl-C ends it and leaves nothing behind.',
    )
    .option(
      '--scenes',
      'instead, show in the terminal how a log survives a crash and detects tampering, and how a tool call is undone',
    )
    .option('--dir <dir>', 'use this new or empty directory and keep it; by default a temporary one')
    .option('--port <n>', 'port to listen on, on 127.0.0.1 only; 0 picks a free one', '0')
    .option('--no-open', 'do not open a browser')
    .option('--json', 'print the address, or one JSON object per scene')
    .addHelpText(
      'after',
      `
Examples:
  $ signalbox demo
  $ signalbox demo --scenes --dir tour

Exit codes: 0 everything worked, 1 something failed, 2 usage.`,
    )
    .action(async ({ scenes = false, dir, port: given, open, json = false }: DemoFlags) => {
      if (scenes) return (await import('./demo-scenes.ts')).playScenes(context, { dir, json });
      const port = portOf(given);
      const { playLive } = await import('./demo-live.ts');
      const failed =
        port === undefined
          ? usageError(`--port must be a number up to 65535; got "${given}".`, 'Leave it out.')
          : await playLive(terminal, { directory: dir, port, open, json }, signals.ending());
      if (failed === undefined) return end(exitCodes.done);
      reportError(terminal, failed, json);
      end(exitCodeOf(failed));
    });
};
