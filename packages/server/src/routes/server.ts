import { sourceJsonSchema } from '@signalbox/app/guided';
import {
  type LimitScope,
  type RunHost,
  type SettingsDesk,
  type Spending,
  spendingByProject,
} from '@signalbox/app/host';
import { CONTRACT_VERSION, defined, ok } from '@signalbox/model';
import manifest from '../../package.json' with { type: 'json' };
import { OPERATOR } from '../access/access.ts';
import type { ConsoleLogin } from '../access/console-login.ts';
import type { Serving } from '../http/handlers.ts';
import type { RunMetrics } from '../metrics/run-metrics.ts';
import { openApi } from '../openapi/openapi.ts';
import { listed, MANY, pageOf } from './paging.ts';

/** The server's health and spending. */
export function serverHandlers(
  host: RunHost,
): Serving<
  'health' | 'find' | 'openapi' | 'workflowSchema' | 'providers' | 'recoveries' | 'dismissRecovery' | 'spending'
> {
  return {
    health: () =>
      ok({
        name: 'signalbox',
        contractVersion: CONTRACT_VERSION,
        driven: host.driven().length,
        storage: host.storage.standing(),
        providers: host.providers.briefs(),
      }),
    find: (_, asked) => host.search.find(asked),
    workflowSchema: () => ok(Response.json(sourceJsonSchema())),
    openapi: () => ok(Response.json(openApi(manifest.version))),
    providers: () => ok(host.providers.list()),
    recoveries: () => ok({ recoveries: host.recoveries.list() }),
    dismissRecovery: ({ call }) => host.recoveries.dismiss(call),
    async spending(_, { run, since, ...asked }) {
      const filter = defined({ run, since });
      const spending = await spendingByProject(host.reader, filter);
      return listed('spending', pageOf(spending, { limit: MANY, ...asked }, keyOf));
    },
  };
}

/** Limits over more than one run. */
export function limitHandlers({ limits }: Pick<RunHost, 'limits'>): Serving<'limits' | 'changeLimits'> {
  return {
    limits: async () => ok(await limits.read()),
    changeLimits(_, { scope, directory, ...amounts }) {
      // The schema says which scopes have a directory.
      const of = (directory === undefined ? { scope } : { scope, directory }) as LimitScope;
      return limits.change(of, amounts);
    },
  };
}

/** The server's settings. They are changed in their files, not here. */
export function settingsHandlers(settings: SettingsDesk): Serving<'settings'> {
  return {
    async settings(_, __, { identity: { name, role } }) {
      return ok({ user: { name, role, isDefault: name === OPERATOR }, ...(await settings.read()) });
    },
  };
}

export function metricsHandlers(metrics: RunMetrics): Serving<'metrics'> {
  return {
    async metrics() {
      const text = await metrics.text();
      return ok(new Response(text, { headers: { 'Content-Type': metrics.contentType } }));
    },
  };
}

/** One-time links to the console, and their exchange for tokens. */
export function loginHandlers(login: ConsoleLogin): Serving<'newLink' | 'login'> {
  return {
    newLink(_, __, { identity, request }) {
      const { code, expiresAt } = login.newCode(identity.name === OPERATOR ? undefined : (identity.behind ?? identity));
      return ok({ url: consoleAddress(new URL(request.url).origin, code), expiresAt });
    },
    login: (_, { code }) => login.take(code),
  };
}

/** The code follows the hash: browsers never send that part, so it is in no log. */
export const consoleAddress = (url: string, code: string): string => `${url}/#code=${code}`;

/** The key of one sum. */
function keyOf({ day, directory = '', provider = '', model = '' }: Spending): string {
  return JSON.stringify([day, directory, provider, model]);
}
