import type { Users } from '@signalbox/app';
import type { GuidedSessions, GuidedTools } from '@signalbox/app/guided';
import { type RunHost, type SettingsDesk, thrownDamage } from '@signalbox/app/runs';
import { CONTRACT_VERSION, type ErrorEnvelope, failure, type Health } from '@signalbox/model';
import { Hono } from 'hono';
import manifest from '../../package.json' with { type: 'json' };
import type { Access } from '../access/access.ts';
import { guard } from '../access/guard.ts';
import type { OpenDoors } from '../access/open-doors.ts';
import { assertDeclared, guardedPaths } from '../access/route-needs.ts';
import type { Strangers } from '../access/strangers.ts';
import type { McpByToken } from '../mcp/mcp-by-token.ts';
import type { RunMetrics } from '../metrics/run-metrics.ts';
import { openApi } from '../openapi/openapi.ts';
import { approvalRoutes } from '../routes/approvals.ts';
import { artifactRoutes } from '../routes/artifacts.ts';
import { bundleRoutes } from '../routes/bundles.ts';
import { forkRoutes } from '../routes/forks.ts';
import { graphRoutes } from '../routes/graph.ts';
import { guidedInstead } from '../routes/guided-instead.ts';
import { historyRoutes } from '../routes/history.ts';
import { inspectionRoutes } from '../routes/inspection.ts';
import { loginRoutes } from '../routes/login.ts';
import { providerRoutes } from '../routes/providers.ts';
import { recoveryRoutes } from '../routes/recoveries.ts';
import { retentionRoutes } from '../routes/retention.ts';
import { runRoutes } from '../routes/runs.ts';
import { sessionRoutes, workflowRoutes } from '../routes/sessions.ts';
import { settingsRoutes } from '../routes/settings.ts';
import { usageRoutes } from '../routes/usage.ts';
import { userRoutes } from '../routes/users.ts';
import { workflowFormRoutes } from '../routes/workflow-forms.ts';
import { workspaceRoutes } from '../routes/workspaces.ts';
import { refuse } from './answer.ts';
import type { Asked } from './asked.ts';
import { consoleFiles } from './console-files.ts';
import { pageHeaders } from './page-headers.ts';

export interface HttpAppOptions {
  readonly host: RunHost;
  readonly access: Access;
  /** Where what is open is held, so that it ends with its token. */
  readonly doors?: OpenDoors | undefined;
  /** Told of connections that a token came over. */
  readonly strangers?: Pick<Strangers, 'leave'> | undefined;
  readonly consoleDirectory?: string | undefined;
  /** The agent's MCP surface. */
  readonly agentMcp?: McpByToken['route'] | undefined;
  /** Guided sessions, and the catalogue of workflows. */
  readonly sessions?: GuidedSessions | undefined;
  readonly workflows?: Pick<GuidedTools, 'list' | 'inspect' | 'start'> | undefined;
  readonly metrics?: RunMetrics | undefined;
  /** People with tokens of their own. */
  readonly users?: Users | undefined;
  /** What the server is set to. */
  readonly settings?: SettingsDesk | undefined;
  /** The operator's MCP surface. */
  readonly operatorMcp?: McpByToken['route'] | undefined;
  /** Told of what was thrown and answered with `command/unexpected`. */
  readonly onFault?: ((thrown: unknown) => void) | undefined;
}

/** Everything that is spoken over HTTP, without a socket: parse, call one use-case, answer. */
export function createHttpApp({
  host,
  access,
  doors,
  strangers,
  consoleDirectory,
  sessions,
  workflows,
  metrics,
  users,
  settings,
  agentMcp,
  operatorMcp,
  onFault,
}: HttpAppOptions): Hono<Asked> {
  const app = new Hono<Asked>();
  app.use(pageHeaders);
  app.use(async (context, next) => {
    const refused = access.refuseOrigin({ host: context.req.header('host'), origin: context.req.header('origin') });
    return refused === undefined ? next() : refuse(context, refused);
  });
  app.on(
    'ALL',
    guardedPaths,
    guard(access, doors, context => refuse(context, unknownRoute(context.req.method)), strangers),
  );

  app.get('/api/health', context => {
    const health: Health = {
      name: 'signalbox',
      contractVersion: CONTRACT_VERSION,
      driven: host.driven().length,
      storage: host.storage.standing(),
      providers: host.providers.briefs(),
    };
    return context.json(health);
  });
  app.get('/api/openapi.json', context => context.json(openApi(manifest.version)));
  if (sessions !== undefined) app.use('/api/runs/:run/*', guidedInstead(sessions.runs));
  app.route('/api/runs', runRoutes(host, sessions?.runs));
  app.route('/api/runs', forkRoutes(host));
  app.route('/api/runs', historyRoutes(host.reader, sessions?.runs));
  app.route('/api/runs', workspaceRoutes(host));
  app.route('/api', inspectionRoutes(host));
  app.route('/api/artifacts', artifactRoutes(host, sessions?.runs));
  app.route('/api/runs', graphRoutes(host.reader));
  app.route('/api/approvals', approvalRoutes(host, sessions?.runs));
  app.route('/api/usage', usageRoutes(host.reader));
  app.route('/api', retentionRoutes(host));
  app.route('/api/providers', providerRoutes(host.providers));
  app.route('/api/recoveries', recoveryRoutes(host));
  app.route('/api', loginRoutes(access.login));
  if (users !== undefined) app.route('/api/users', userRoutes(users, doors));
  if (settings !== undefined) app.route('/api/settings', settingsRoutes(settings));
  if (sessions !== undefined) app.route('/api/sessions', sessionRoutes(sessions, workflows));
  if (sessions !== undefined) app.route('/api/workflows', workflowFormRoutes(sessions));
  if (workflows !== undefined) app.route('/api/workflows', workflowRoutes(workflows));
  app.route('/api', bundleRoutes(host));
  if (metrics !== undefined) {
    app.get('/metrics', async context => {
      const text = await metrics.text();
      return context.body(text, 200, { 'Content-Type': metrics.contentType });
    });
  }
  if (agentMcp !== undefined) app.all('/mcp/agent', context => agentMcp(context.req.raw, context.get('identity')));
  if (operatorMcp !== undefined) app.all('/mcp', context => operatorMcp(context.req.raw, context.get('identity')));
  if (consoleDirectory !== undefined) app.get('*', consoleFiles(consoleDirectory));

  assertDeclared(app.routes);
  app.notFound(context => refuse(context, unknownRoute(context.req.method)));
  app.onError((thrown, context) => {
    onFault?.(thrown);
    return refuse(context, thrownDamage(thrown) ?? unexpected());
  });
  return app;
}

function unknownRoute(method: string): ErrorEnvelope {
  return failure('request/unknown-route', {
    message: `There is no such route for ${method}.`,
    suggestion: 'GET /api/openapi.json lists the routes.',
  });
}

/** What was thrown stays here: it may quote what nobody should read. */
function unexpected(): ErrorEnvelope {
  return failure('command/unexpected', {
    message: 'The server met something that must never happen while it answered.',
    suggestion: 'Nothing that was acknowledged is lost. See the log of the server, and report this.',
  });
}
