import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { accessToken, dataDirectory, openUsers, usageError } from '@signalbox/app';
import { configOf, openGuidedSessions, openGuidedTools, recordAppliedConfig } from '@signalbox/app/guided';
import { type ErrorEnvelope, openHome, thisMachine } from '@signalbox/app/runs';
import { startServer } from '@signalbox/server';
import manifest from '../package.json' with { type: 'json' };
import type { DefineCommand } from './command.ts';
import { DATA_DIR_OPTION, type DataFlags } from './data-directory-option.ts';
import { type ExitCode, exitCodeOf, exitCodes } from './exit-code.ts';
import { reportError, type Terminal } from './terminal.ts';
import { workflowPlaces } from './workflow/workflow-places.ts';

interface ServeFlags extends DataFlags {
  readonly port: string;
}

const DEFAULT_PORT = '4280';

export const defineServe: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Owns the data directory and goes on until it is told to end: takes up runs that were cut off, drives what it is asked to ' +
        'run, and shows it in the console. Ctrl-C pauses what runs and ends it; the runs go on with the next start.',
    )
    .option('--port <n>', 'where to listen, on 127.0.0.1 only; 0 takes one that is free', DEFAULT_PORT)
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print where it listens as JSON')
    .addHelpText(
      'after',
      '\nExample:\n  $ signalbox serve\n  $ signalbox run plan.tsx --detach     from another terminal',
    )
    .action(async (flags: ServeFlags) => {
      const outcome = await serve(terminal, flags);
      if (typeof outcome === 'number') return end(outcome);
      reportError(terminal, outcome, flags.json ?? false);
      end(exitCodeOf(outcome));
    });
};

async function serve(
  terminal: Terminal,
  { port, dataDir, json = false }: ServeFlags,
): Promise<ExitCode | ErrorEnvelope> {
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    return usageError(`--port takes a number up to 65535, and ${port} is none.`, 'Leave it out for 4280.');
  }
  const { env, platform } = process;
  const machine = thisMachine();
  const directory = dataDirectory({ asked: dataDir, env, platform, home: homedir(), cwd: process.cwd() });
  const home = await openHome({ dataDirectory: directory, machine, env, resumeOnAnswer: true });
  if (!home.ok) return home.error;
  const { host, owned, close } = home.value;
  const directories = workflowPlaces();
  const recorded = recordAppliedConfig(directory, configOf(manifest.version, directories), machine.clock);
  if (!recorded.ok) terminal.complain(recorded.error.message);
  const token = accessToken(directory, machine);
  const server = token.ok
    ? await startServer({
        host,
        token: token.value,
        users: openUsers(directory, machine),
        port: Number(port),
        timers: machine.timers,
        guided: openGuidedTools({ dataDirectory: directory, directories, machine }),
        sessions: openGuidedSessions({ dataDirectory: directory, directories: workflowPlaces(), machine }),
        consoleDirectory: consoleDirectory(),
        onFault: thrown =>
          terminal.complain(thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)),
      })
    : token;
  if (!token.ok || !server.ok) {
    await close();
    return server.ok ? usageError('There is no token.', 'Start again.') : server.error;
  }
  const { url } = server.value;
  owned.owner.announce(url);
  const takenUp = await takeUp(host);
  const page = `${url}/#token=${token.value}`;
  terminal.print(json ? JSON.stringify({ url, page, takenUp }) : `Signalbox listens at ${url}\nOpen ${page}`);
  if (!json && takenUp.length > 0) terminal.print(`Runs that were cut off go on: ${takenUp.join(' ')}`);
  await interrupted();
  if (!json) terminal.print('Pausing what runs.');
  await server.value.close();
  await close();
  return exitCodes.done;
}

/** Runs that a process left behind when it died. */
async function takeUp(host: Parameters<typeof startServer>[0]['host']): Promise<readonly string[]> {
  const { items } = await host.reader.runs({ status: ['running', 'queued'] });
  const takenUp: string[] = [];
  for (const { id, origin } of items) {
    if (origin?.kind === 'sub-plan') continue;
    const resumed = await host.resume(id);
    if (resumed.ok) takenUp.push(id);
  }
  return takenUp;
}

/** The built console: beside the built program, or in a checkout. */
function consoleDirectory(): string | undefined {
  const places = ['./console/', '../../console/dist/'].map(place => fileURLToPath(new URL(place, import.meta.url)));
  return places.find(place => existsSync(`${place}index.html`));
}

function interrupted(): Promise<void> {
  return new Promise(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}
