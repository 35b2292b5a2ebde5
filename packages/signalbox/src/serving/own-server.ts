import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { accessToken, dataDirectorySource, openUsers } from '@signalbox/app';
import type { FleetDesk } from '@signalbox/app/fleet';
import { type GuidedSessions, type GuidedTools, openGuidedSessions, openGuidedTools } from '@signalbox/app/guided';
import type { ErrorEnvelope, Home, Machine, Result } from '@signalbox/app/host';
import { type RunningServer, startServer } from '@signalbox/server';
import { workflowPlaces } from '../workflow/workflow-places.ts';

/** The server of a data directory owned by this process. */
export interface OwnServer extends RunningServer {
  /** The console's address: with the token if this start created it, else with a one-time code; either is in the fragment. */
  page(): string;
  readonly guided: GuidedTools;
  readonly sessions: GuidedSessions;
}

export interface OwnServerOptions {
  readonly home: Home;
  readonly directory: string;
  readonly machine: Machine;
  /** 0 picks a free one. */
  readonly port: number;
  /** The fleet to serve; without it there is none. */
  readonly fleet?: FleetDesk | undefined;
  readonly onFault?: (thrown: unknown) => void;
}

/** Starts the server and writes its address to the directory. Every command that owns the directory does this. */
export async function startOwnServer(options: OwnServerOptions): Promise<Result<OwnServer, ErrorEnvelope>> {
  const { home, directory, machine, port, onFault } = options;
  const { env, platform } = process;
  const issued = accessToken(directory, machine);
  if (!issued.ok) return issued;
  const { token, isNew } = issued.value;
  const directories = workflowPlaces();
  const mayLook = (named: string) => home.places.directory(named).ok;
  const guided = openGuidedTools({ dataDirectory: directory, directories, machine, mayLook });
  const sessions = openGuidedSessions({ dataDirectory: directory, directories, machine });
  const server = await startServer({
    host: home.host,
    token,
    users: openUsers(directory, machine),
    settings: home.settings({
      directoryFrom: dataDirectorySource(directory, { env, platform, home: homedir(), cwd: process.cwd() }),
      workflowDirectories: directories.map(place => place.directory),
    }),
    agents: home.agentJobs(),
    fleet: options.fleet,
    port,
    timers: machine.timers,
    clock: machine.clock,
    rng: machine.rng,
    guided,
    sessions,
    consoleDirectory: consoleDirectory(),
    onFault,
  });
  if (!server.ok) return server;
  home.owned.owner.announce(server.value.url);
  const page = () => (isNew ? `${server.value.url}/#token=${token}` : server.value.newLink().url);
  return { ok: true, value: { ...server.value, page, guided, sessions } };
}

/** The built console: next to the built program, or in a checkout. */
function consoleDirectory(): string | undefined {
  const places = ['./console/', '../console/', '../../../console/dist/'];
  return places
    .map(place => fileURLToPath(new URL(place, import.meta.url)))
    .find(place => existsSync(`${place}index.html`));
}
