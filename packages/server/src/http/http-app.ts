import type { Users } from '@signalbox/app';
import type { AgentJobs } from '@signalbox/app/agents';
import { type AllRuns, allRunsOf } from '@signalbox/app/all-runs';
import type { FleetDesk } from '@signalbox/app/fleet';
import type { GuidedSessions, GuidedTools } from '@signalbox/app/guided';
import { type RunHost, type SettingsDesk, thrownDamage } from '@signalbox/app/host';
import { type ErrorEnvelope, failure, ok } from '@signalbox/model';
import { Hono, type MiddlewareHandler } from 'hono';
import type { Access } from '../access/access.ts';
import { guard } from '../access/guard.ts';
import type { OpenDoors } from '../access/open-doors.ts';
import { assertDeclared, guardedPaths } from '../access/route-needs.ts';
import type { Strangers } from '../access/strangers.ts';
import type { McpByToken } from '../mcp/mcp-by-token.ts';
import type { RunMetrics } from '../metrics/run-metrics.ts';
import { agentHandlers } from '../routes/agents.ts';
import { approvalHandlers } from '../routes/approvals.ts';
import { artifactHandlers } from '../routes/artifacts.ts';
import { bundleHandlers } from '../routes/bundles.ts';
import { fleetHandlers } from '../routes/fleet.ts';
import { forkHandlers } from '../routes/forks.ts';
import { graphHandlers } from '../routes/graph.ts';
import { guidedInstead } from '../routes/guided-instead.ts';
import { historyHandlers } from '../routes/history.ts';
import { inspectionHandlers } from '../routes/inspection.ts';
import { retentionHandlers } from '../routes/retention.ts';
import { runHandlers } from '../routes/runs.ts';
import { limitHandlers, loginHandlers, metricsHandlers, serverHandlers, settingsHandlers } from '../routes/server.ts';
import { sessionHandlers, sessionStarts, workflowHandlers } from '../routes/sessions.ts';
import { userHandlers } from '../routes/users.ts';
import { refuse } from './answer.ts';
import type { Asked } from './asked.ts';
import { consoleFiles } from './console-files.ts';
import type { Handler } from './handlers.ts';
import { pageHeaders } from './page-headers.ts';
import { createPlaces } from './places.ts';
import { type Served, serveOperations } from './serve-operations.ts';

export interface HttpAppOptions {
  readonly host: RunHost;
  readonly access: Access;
  /** Holds what is open, so that it ends with its token. */
  readonly doors?: OpenDoors | undefined;
  /** Notified when a connection has sent a valid token. */
  readonly strangers?: Pick<Strangers, 'leave'> | undefined;
  readonly consoleDirectory?: string | undefined;
  /** The agent's MCP surface. */
  readonly agentMcp?: McpByToken['route'] | undefined;
  /** Guided sessions, and the catalogue of workflows. */
  readonly sessions?: GuidedSessions | undefined;
  readonly workflows?: Pick<GuidedTools, 'list' | 'inspect' | 'start'> | undefined;
  readonly metrics?: RunMetrics | undefined;
  /** Users with their own tokens. */
  readonly users?: Users | undefined;
  /** The server's settings. */
  readonly settings?: SettingsDesk | undefined;
  /** The agents of this machine. */
  readonly agents?: AgentJobs | undefined;
  /** The fleet of the project that is served. */
  readonly fleet?: FleetDesk | undefined;
  /** The operator's MCP surface. */
  readonly operatorMcp?: McpByToken['route'] | undefined;
  /** Called with exceptions that are answered as `command/unexpected`. */
  readonly onFault?: ((thrown: unknown) => void) | undefined;
}

/** The whole HTTP surface without a socket: parse, call one use-case, answer. */
export function createHttpApp(options: HttpAppOptions): Hono<Asked> {
  const { host, access, doors, strangers, consoleDirectory, sessions, onFault } = options;
  const app = new Hono<Asked>();
  app.use(pageHeaders);
  app.use(withoutBodyOfHead);
  app.use(async (context, next) => {
    const refused = access.refuseOrigin({ host: context.req.header('host'), origin: context.req.header('origin') });
    return refused === undefined ? next() : refuse(context, refused);
  });
  app.on(
    'ALL',
    guardedPaths,
    guard(access, doors, context => refuse(context, unknownRoute(context.req.method)), strangers),
  );

  const all = allRunsOf(host, sessions?.runs);
  if (sessions !== undefined) app.use('/api/runs/:run/*', guidedInstead(all));
  serveOperations(app, servedBy(options, all), createPlaces(host.reader, all, options.fleet));
  if (consoleDirectory !== undefined) app.get('*', consoleFiles(consoleDirectory));

  assertDeclared(app.routes);
  app.notFound(context => refuse(context, unknownRoute(context.req.method)));
  app.onError((thrown, context) => {
    onFault?.(thrown);
    return refuse(context, thrownDamage(thrown) ?? unexpected());
  });
  return app;
}

/** Every operation by its handler. A missing one does not compile. */
function servedBy(
  { host, access, doors, sessions, workflows, metrics, users, settings, agents, fleet, ...mcp }: HttpAppOptions,
  all: AllRuns,
): Served {
  return {
    ...serverHandlers(host),
    ...limitHandlers(host),
    ...loginHandlers(access.login),
    ...runHandlers(host, all),
    ...forkHandlers(host),
    ...historyHandlers(host, all),
    ...inspectionHandlers(host),
    ...artifactHandlers(all),
    ...graphHandlers(host),
    ...approvalHandlers(all, fleet),
    ...retentionHandlers(host),
    ...bundleHandlers(host),
    ...whenThere(users, service => userHandlers(service, doors)),
    ...whenThere(settings, settingsHandlers),
    ...whenThere(agents, agentHandlers),
    ...whenThere(fleet, service => fleetHandlers(service, all)),
    ...whenThere(sessions, sessionHandlers),
    ...whenThere(workflows, workflowHandlers),
    ...whenThere(sessions && workflows, sessionStarts),
    ...whenThere(metrics, metricsHandlers),
    ...whenThere(mcp.agentMcp, route => ({ agentMcp: passedOn(route) })),
    ...whenThere(mcp.operatorMcp, route => ({ operatorMcp: passedOn(route) })),
  };
}

/** Handlers of a service's operations; each is undefined if the server lacks the service. */
function whenThere<Service, Part extends object>(
  service: Service | undefined,
  serve: (service: Service) => Part,
): { readonly [Name in keyof Part]: Part[Name] | undefined } {
  return service === undefined ? ({} as { readonly [Name in keyof Part]: undefined }) : serve(service);
}

const passedOn =
  (route: McpByToken['route']): Handler<'agentMcp'> =>
  async (_, __, { request, identity }) =>
    ok(await route(request, identity));

/** A HEAD request is answered as a GET whose body nobody reads; releases what the body holds open. */
const withoutBodyOfHead: MiddlewareHandler = async (context, next) => {
  await next();
  if (context.req.method === 'HEAD') await context.res.body?.cancel();
};

function unknownRoute(method: string): ErrorEnvelope {
  return failure('request/unknown-route', {
    message: `No route matches this path for ${method}.`,
    suggestion: 'GET /api/openapi.json lists the routes.',
  });
}

/** The exception is not sent: it may contain secrets. */
function unexpected(): ErrorEnvelope {
  return failure('command/unexpected', {
    message: 'The server failed unexpectedly while answering.',
    suggestion: 'Nothing that was acknowledged is lost. See the server log, and report this.',
  });
}
