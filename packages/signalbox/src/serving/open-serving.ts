import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { accessToken, dataDirectorySource, openUsers } from '@signalbox/app';
import {
  configOf,
  type GuidedSessions,
  type GuidedTools,
  openGuidedSessions,
  openGuidedTools,
  recordAppliedConfig,
} from '@signalbox/app/guided';
import { type ErrorEnvelope, openHome, type Result, type RunHost, thisMachine } from '@signalbox/app/runs';
import { startServer } from '@signalbox/server';
import manifest from '../../package.json' with { type: 'json' };
import type { Terminal } from '../terminal.ts';
import { workflowPlaces } from '../workflow/workflow-places.ts';

/** A data directory that this process owns, and the server that shows it. */
export interface Serving {
  readonly url: string;
  /** The console, with the token behind the hash: it is not sent to any server. */
  readonly page: string;
  readonly host: RunHost;
  readonly guided: GuidedTools;
  readonly sessions: GuidedSessions;
  /** Pauses what is driven, ends every connection, and gives the directory back. */
  close(): Promise<void>;
}

export async function openServing(
  terminal: Terminal,
  { directory, port }: { readonly directory: string; readonly port: number },
): Promise<Result<Serving, ErrorEnvelope>> {
  const machine = thisMachine();
  const { env, platform } = process;
  const home = await openHome({ dataDirectory: directory, machine, env, resumeOnAnswer: true });
  if (!home.ok) return home;
  const { host, owned, close } = home.value;
  const directories = workflowPlaces();
  const recorded = recordAppliedConfig(directory, configOf(manifest.version, directories), machine.clock);
  if (!recorded.ok) terminal.complain(recorded.error.message);
  const token = accessToken(directory, machine);
  if (!token.ok) {
    await close();
    return token;
  }
  const sessions = openGuidedSessions({ dataDirectory: directory, directories, machine });
  const guided = openGuidedTools({ dataDirectory: directory, directories, machine });
  const server = await startServer({
    host,
    token: token.value,
    users: openUsers(directory, machine),
    settings: home.value.settings({
      directoryFrom: dataDirectorySource(directory, { env, platform, home: homedir(), cwd: process.cwd() }),
      workflowDirectories: directories.map(place => place.directory),
    }),
    port,
    timers: machine.timers,
    guided,
    sessions,
    consoleDirectory: consoleDirectory(),
    onFault: thrown => terminal.complain(thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)),
  });
  if (!server.ok) {
    await close();
    return server;
  }
  const { url } = server.value;
  owned.owner.announce(url);
  return {
    ok: true,
    value: {
      url,
      page: `${url}/#token=${token.value}`,
      host,
      guided,
      sessions,
      async close() {
        await server.value.close();
        await close();
      },
    },
  };
}

/** Until somebody ends the program: Ctrl-C, or a signal. */
export function interrupted(): Promise<void> {
  return new Promise(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}

/** The built console: beside the built program, or in a checkout. */
function consoleDirectory(): string | undefined {
  const places = ['./console/', '../console/', '../../../console/dist/'];
  return places
    .map(place => fileURLToPath(new URL(place, import.meta.url)))
    .find(place => existsSync(`${place}index.html`));
}
