import { thisMachine } from '@signalbox/app/host';
import { logIn } from '@signalbox/client';
import { timestamp, type UserRole, userRole } from '@signalbox/model';
import { type RunningServer, startServer } from '@signalbox/server';
import { scriptedGuided } from '../mcp/scripted-guided.ts';
import { memoryUsers, noAgents, noFleet, noSettings } from '../memory-users.ts';
import { noSessions } from '../no-sessions.ts';
import { type ScriptedHost, scriptedHost } from '../scripted-host.ts';

const SERVER_TOKEN = 'the-token-of-this-server';
/** Longer than any machine takes for all that is tried here. */
const DAY_MS = 86_400_000;

/** A caller of a server, and the role that its token gives it; none for a token that must not count. */
export interface Caller {
  readonly who: string;
  readonly token: string | undefined;
  readonly role: UserRole | undefined;
}

export interface AccessStage {
  readonly host: ScriptedHost;
  readonly server: RunningServer;
  readonly callers: readonly Caller[];
  close(): Promise<void>;
}

/** A server and everybody who may try to get in. */
export async function accessStage(): Promise<AccessStage> {
  const now = Date.now();
  const later = timestamp.parse(new Date(now + DAY_MS).toISOString());
  const past = timestamp.parse(new Date(now - 1).toISOString());
  const users = memoryUsers({
    ...Object.fromEntries(
      userRole.options.map(role => [`token-${role}`, { name: `a-${role}`, role, expiresAt: later }]),
    ),
    'token-expired': { name: 'expired', role: 'owner', expiresAt: past },
    'token-removed': { name: 'removed', role: 'owner' },
  });
  users.remove('removed');
  const host = scriptedHost();
  const server = await startBare({ host, token: SERVER_TOKEN, users });
  const other = await startBare({
    host: scriptedHost(),
    token: 'the-token-of-another-server',
    users: memoryUsers({ 'token-elsewhere': 'ada' }),
  });
  const tabOf = async ({ url, newLink }: RunningServer) => {
    const taken = await logIn(url, new URL(newLink().url).hash.slice('#code='.length));
    if (!taken.ok) throw new Error(taken.error.message);
    return taken.value.token;
  };
  return {
    host,
    server,
    callers: [
      ...userRole.options.map(role => ({ who: role, token: `token-${role}`, role })),
      { who: 'the data directory', token: SERVER_TOKEN, role: 'owner' },
      { who: 'a tab', token: await tabOf(server), role: 'owner' },
      { who: 'nobody', token: undefined, role: undefined },
      { who: 'an expired user', token: 'token-expired', role: undefined },
      { who: 'a removed user', token: 'token-removed', role: undefined },
      { who: 'a wrong token', token: 'wrong', role: undefined },
      { who: 'the code of a link', token: new URL(server.newLink().url).hash.slice('#code='.length), role: undefined },
      { who: 'another server', token: 'the-token-of-another-server', role: undefined },
      { who: 'a user of another server', token: 'token-elsewhere', role: undefined },
      { who: 'a tab of another server', token: await tabOf(other), role: undefined },
    ],
    async close() {
      await server.close();
      await other.close();
    },
  };
}

type ServerOptions = Parameters<typeof startServer>[0];

/** A server of these that has nothing else. */
export async function startBare(
  options: Pick<ServerOptions, 'host' | 'token' | 'users'> & Partial<ServerOptions>,
): Promise<RunningServer> {
  const started = await startServer({
    settings: noSettings,
    agents: noAgents,
    fleet: noFleet,
    sessions: noSessions,
    guided: scriptedGuided({}),
    port: 0,
    timers: thisMachine().timers,
    ...options,
  });
  if (!started.ok) throw new Error(started.error.message);
  return started.value;
}
