import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { type ErrorEnvelope, systemPath, usageError } from '@signalbox/app';
import type { DefineCommand } from '../command.ts';
import { askedDataDirectory, DATA_DIR_OPTION, type DataFlags } from '../data-directory-option.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../exit-code.ts';
import { reportError, type Terminal } from '../terminal.ts';
import { ownerClient } from '../users/owner-client.ts';
import { findAppBrowser } from './app-browser.ts';
import { handOver } from './handover.ts';
import { openServing } from './open-serving.ts';

export const defineDesktop: DefineCommand = (command, { terminal, signals, end }) => {
  command
    .description(
      'Opens the console in its own window of an installed browser (Chrome, Chromium, Edge or Brave). Starts the server unless one ' +
        'already serves this data directory. Closing the window pauses active runs and stops the server.',
    )
    .option(...DATA_DIR_OPTION)
    .addHelpText(
      'after',
      `
Example:
  $ signalbox desktop
  $ SIGNALBOX_BROWSER=/opt/chrome/chrome signalbox desktop`,
    )
    .action(async ({ dataDir }: DataFlags) => {
      const outcome = await openDesktop(terminal, dataDir, signals.ending());
      if (typeof outcome === 'number') return end(outcome);
      reportError(terminal, outcome, false);
      end(exitCodeOf(outcome));
    });
};

async function openDesktop(
  terminal: Terminal,
  asked: string | undefined,
  ending: AbortSignal,
): Promise<ExitCode | ErrorEnvelope> {
  const { env, platform } = process;
  const browser = findAppBrowser({ platform, env });
  if (browser === undefined) {
    return usageError(
      'No installed browser can open an app window.',
      'Install Chrome, Chromium, Edge or Brave, set SIGNALBOX_BROWSER, or use "signalbox serve" with any browser.',
    );
  }
  const directory = askedDataDirectory(asked);
  const serving = await openServing(terminal, { directory, port: 0 });
  if (serving.ok) {
    const { page, close } = serving.value;
    await showWindow(browser, directory, page(), ending);
    await close();
    return exitCodes.done;
  }
  const owner = serving.error.code === 'store/owned' ? await ownerClient(directory) : undefined;
  if (owner === undefined) return serving.error;
  const link = await owner.newLink();
  if (!link.ok) return link.error;
  await showWindow(browser, directory, link.value.url, ending);
  return exitCodes.done;
}

/** Resolves when the window is closed. A separate profile isolates it from the user's other windows. */
async function showWindow(browser: string, directory: string, page: string, ending: AbortSignal): Promise<void> {
  const handover = handOver(directory, page);
  const profile = path.join(directory, 'desktop');
  // The browser creates files according to the umask, and its history includes the token.
  mkdirSync(profile, { recursive: true, mode: 0o700 });
  const args = [`--app=${handover.url}`, `--user-data-dir=${profile}`, '--no-first-run', '--no-default-browser-check'];
  const env = { ...process.env, PATH: systemPath() };
  const child = spawn(browser, args, { stdio: 'ignore', signal: ending, env });
  await new Promise<void>(resolve => child.once('close', () => resolve()).once('error', () => resolve()));
  handover.close();
}
