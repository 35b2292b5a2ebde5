import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Users } from '@signalbox/app';
import type { AgentJobs } from '@signalbox/app/agents';
import { liveRunsOf } from '@signalbox/app/all-runs';
import type { FleetDesk } from '@signalbox/app/fleet';
import type { GuidedSessions, GuidedTools } from '@signalbox/app/guided';
import type { Machine, RunHost, SettingsDesk } from '@signalbox/app/host';
import { type ErrorEnvelope, err, failure, type OneTimeLink, ok, type Result } from '@signalbox/model';
import { createAccess, system } from './access/access.ts';
import { createOpenDoors } from './access/open-doors.ts';
import { createStrangers } from './access/strangers.ts';
import { createHttpApp } from './http/http-app.ts';
import { createLiveMeter } from './live/live-meter.ts';
import { acceptUpgrades } from './live/upgrade.ts';
import { createAgentMcp } from './mcp/agent-mcp.ts';
import { mcpByToken } from './mcp/mcp-by-token.ts';
import { mcpHttp } from './mcp/mcp-http.ts';
import { createRunMetrics } from './metrics/run-metrics.ts';
import { operatorHttp } from './operator/operator-http.ts';
import { consoleAddress } from './routes/server.ts';

export interface ServerOptions {
  readonly host: RunHost;
  /** The token that every request must carry. */
  readonly token: string;
  /** Users with their own tokens. */
  readonly users?: Users | undefined;
  /** The server's settings. */
  readonly settings?: SettingsDesk | undefined;
  /** The agents of this machine; their jobs end with the server. */
  readonly agents?: AgentJobs | undefined;
  /** The fleet of the project that is served. */
  readonly fleet?: FleetDesk | undefined;
  /** 0 picks a free port. */
  readonly port: number;
  readonly timers: Machine['timers'];
  /** Defaults to the system's. */
  readonly clock?: Machine['clock'] | undefined;
  readonly rng?: Machine['rng'] | undefined;
  /** The directory of the built console; without it, only the API is served. */
  readonly consoleDirectory?: string | undefined;
  /** Guided workflows, for agents at `/mcp/agent`. */
  readonly guided?: GuidedTools | undefined;
  /** Guided sessions, for the person. */
  readonly sessions?: GuidedSessions | undefined;
  /** Called with exceptions thrown while answering a request. */
  readonly onFault?: ((thrown: unknown) => void) | undefined;
}

export interface RunningServer {
  /** Such as `http://127.0.0.1:4280`. */
  readonly url: string;
  readonly port: number;
  /** A one-time link to the console that expires soon. */
  newLink(): OneTimeLink;
  /**
   * Stops accepting connections, answers pending requests, and closes every connection; cuts off clients that are not done within
   * `GRACE_MS`. Runs continue: they belong to the host.
   */
  close(): Promise<void>;
}

/** The only address that the server listens on. */
const LOOPBACK = '127.0.0.1';

/** How long a pending request may take when the server closes. */
export const GRACE_MS = 5_000;

/** Cuts off clients that send a request a byte at a time. */
const PATIENCE = { headersTimeout: 10_000, requestTimeout: 60_000, connectionsCheckingInterval: 5_000 };

export async function startServer(options: ServerOptions): Promise<Result<RunningServer, ErrorEnvelope>> {
  const { host, token, timers, consoleDirectory, guided, onFault = () => undefined } = options;
  let port = 0;
  const { clock = system.clock, rng = system.rng } = options;
  const access = createAccess(token, () => port, options.users, { clock, rng });
  const doors = createOpenDoors({ counts: access.counts, timers, clock, onFault });
  const strangers = createStrangers();
  const agentMcp =
    guided &&
    mcpByToken(asker => mcpHttp(createAgentMcp(guided, { onFault, asker }), { timers, onFault }), doors, access);
  const meter = createLiveMeter();
  const metrics = createRunMetrics(host, meter, options.fleet);
  const operatorMcp = operatorHttp(host, {
    ...{ timers, doors, access, onFault },
    guided: options.sessions?.runs,
    fleet: options.fleet,
  });
  const app = createHttpApp({
    host,
    access,
    doors,
    strangers,
    consoleDirectory,
    agentMcp: agentMcp?.route,
    sessions: options.sessions,
    workflows: guided,
    metrics,
    users: options.users,
    settings: options.settings,
    agents: options.agents,
    fleet: options.fleet,
    operatorMcp: operatorMcp.route,
    onFault,
  });
  const live = liveRunsOf(host, timers, onFault, options.sessions?.runs);
  const upgrades = acceptUpgrades({
    live,
    fleet: options.fleet,
    access,
    doors,
    timers,
    meter,
    onFault,
  });
  const server = createServer(PATIENCE, getRequestListener(app.fetch, { overrideGlobalObjects: false }));
  server.on('connection', strangers.arrive);
  server.on('upgrade', (request, socket, head) => {
    strangers.leave(request.socket);
    upgrades.take(request, socket, head);
  });

  const failed = await new Promise<NodeJS.ErrnoException | undefined>(resolve => {
    server.once('error', resolve);
    server.listen(options.port, LOOPBACK, () => resolve(undefined));
  });
  if (failed !== undefined) {
    metrics.close();
    return err(cannotListen(options.port, failed));
  }
  port = (server.address() as AddressInfo).port;
  return ok({
    url: `http://${LOOPBACK}:${port}`,
    port,
    newLink() {
      const { code, expiresAt } = access.login.newCode();
      return { url: consoleAddress(`http://${LOOPBACK}:${port}`, code), expiresAt };
    },
    async close() {
      const closed = new Promise<void>(resolve => server.close(() => resolve()));
      const stopWaiting = timers.after(GRACE_MS, () => {
        upgrades.cut();
        server.closeAllConnections();
      });
      upgrades.close();
      doors.close();
      live.close();
      await options.agents?.close();
      await agentMcp?.close();
      await operatorMcp.close();
      await closed;
      stopWaiting();
      metrics.close();
    },
  });
}

function cannotListen(port: number, { code }: NodeJS.ErrnoException): ErrorEnvelope {
  const why = code === 'EADDRINUSE' ? 'another program listens there' : `the system reports ${code}`;
  return failure('server/cannot-listen', {
    message: `The server cannot listen on ${LOOPBACK}, port ${port}: ${why}.`,
    suggestion: 'Choose another port, or end the program that uses this one.',
    details: { port },
  });
}
