import { providerReferences } from '@signalbox/adapters/providers';
import type { ErrorEnvelope, Result, RunId } from '@signalbox/model';
import { ok, type RecoveryNote, thrownText, timestampOf } from '@signalbox/model';
import { type AgentRunner, taskId } from '@signalbox/runs';
import { openAgentTools } from '../agents/agent-tools.ts';
import { builtinAgents } from '../agents/builtin-agents.ts';
import { offeredTools } from '../agents/offered-tools.ts';
import { lazyHostLog } from '../logs/lazy-host-log.ts';
import type { Log } from '../logs/log.ts';
import { readLogSettings } from '../logs/log-config.ts';
import { openRunLogs } from '../logs/run-log-files.ts';
import { createRunLogWriter } from '../logs/run-log-writer.ts';
import type { Machine } from '../machine.ts';
import { openRecoveryBook } from '../recoveries/recovery-book.ts';
import { noteOf, placesOf } from '../recoveries/recovery-note.ts';
import { finishTaking } from '../redact/finish-taking.ts';
import { homeRetention } from '../retention/home-ports.ts';
import { createJournalThread } from '../run-journal/journal-thread.ts';
import { openSettings, type SettingsDesk, type SettingsOptions } from '../settings/open-settings.ts';
import type { Launch } from '../threads/plan-worker-start.ts';
import { openWorkspaceDesk } from '../workspaces/workspace-desk.ts';
import { openRunHost, type RunHostOptions } from './open-run-host.ts';
import { type OwnedStore, openOwnedStore } from './owned-store.ts';
import { type PlanPlaces, planPlaces } from './plan-places.ts';
import type { RunHost } from './run-host.ts';

/** A data directory that this process owns, with everything that its runs need. */
export interface Home {
  readonly host: RunHost;
  readonly owned: OwnedStore;
  /** Tool calls that were under way when the process before ended, and what this start did about them. */
  readonly recovered: readonly RecoveryNote[];
  /** What the process itself says: `logs/host.ndjson`. */
  readonly log: Log;
  /** What may be named over REST and MCP. */
  readonly places: PlanPlaces;
  /** What the process is set to. */
  settings(more: Pick<SettingsOptions, 'directoryFrom' | 'workflowDirectories'>): SettingsDesk;
  /** Pauses what is driven, and gives the directory back. */
  close(): Promise<void>;
}

export interface HomeOptions extends Pick<RunHostOptions, 'threads' | 'resumeOnAnswer' | 'trace' | 'planRoots'> {
  readonly dataDirectory: string;
  readonly machine: Machine;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Instead of the agent that comes along. */
  readonly agents?: AgentRunner;
  readonly launch?: Launch | undefined;
}

/** Opens the data directory for work: what was cut off is undone first. Refused while another process owns it. */
export async function openHome(options: HomeOptions): Promise<Result<Home, ErrorEnvelope>> {
  const { dataDirectory, machine, env } = options;
  const owned = openOwnedStore(dataDirectory, machine, env);
  if (!owned.ok) return owned;
  const { store, owner, secrets } = owned.value;
  const { filter } = secrets;
  const log = lazyHostLog(async () => {
    const { openHostLog } = await import('../logs/host-log.ts');
    return openHostLog({ dataDirectory, level: 'info', filter });
  });
  const settings = readLogSettings(dataDirectory);
  for (const { name, why } of secrets.unusable)
    log.say('warn', 'the value of a secret variable is not redacted', { variable: name, why });
  if (!settings.ok) log.say('warn', 'the settings of logs are not used', { why: settings.error });
  const derived = createJournalThread({
    dataDirectory,
    logs: settings.ok ? settings.value : {},
    secrets: secrets.shared,
    codeDirectory: options.launch?.codeDirectory,
  });
  const logs = openRunLogs({
    feed: store,
    timers: machine.timers,
    writer: derived,
    last: createRunLogWriter({
      ...(settings.ok && settings.value),
      reader: store,
      dataDirectory,
      clean: filter.data,
    }),
    onFault: thrown => log.say('warn', 'a line of a run could not be logged', { error: thrownText(thrown) }),
  });
  const taking = { store, dataDirectory, machine, secrets, rewriteJournal: derived.rewrite, derived };
  const ended = await finishTaking(taking);
  if (!ended.ok) log.say('warn', 'what was being taken away is not gone yet', { why: ended.error.message });
  else if (ended.value) log.say('info', 'what was being taken away when the process before ended is gone');
  const tools = openAgentTools(dataDirectory, machine, filter);
  const recoveries = openRecoveryBook(dataDirectory, machine.clock);
  const recovered = filter.data(await recover());
  recoveries.add(recovered);
  for (const recovery of recovered) log.say('warn', 'a tool call that was cut off was dealt with', { recovery });
  const workspaces = openWorkspaceDesk({ dataDirectory, machine, reader: store, blobs: store, tools });
  await workspaces.recover();
  const agents = options.agents ?? builtinAgents({ machine, tools, store, env });
  const providers = providerReferences(env);
  const retention = homeRetention(dataDirectory, machine.clock, workspaces);
  const host = await openRunHost({
    ...options,
    ...retention,
    threads: { ...options.threads, launch: options.launch },
    owned: owned.value,
    recoveries,
    agents,
    tools,
    workspaces,
    providers,
    clean: filter.text,
    // Runs that rest when the host closes have lines to be written.
    derived: { ...derived, close: async () => {} },
  });
  return ok({
    host,
    owned: owned.value,
    recovered,
    log,
    places: planPlaces({ dataDirectory, roots: options.planRoots ?? [] }),
    settings: more =>
      openSettings({
        dataDirectory,
        env,
        clock: machine.clock,
        logs: settings.ok ? settings.value : {},
        providers,
        tools: () => offeredTools(tools),
        planRoots: options.planRoots ?? [],
        ...more,
      }),
    async close() {
      await host.close();
      await logs.close();
      await derived.close();
      await log.close();
      owned.value.close();
    },
  });

  async function recover(): Promise<readonly RecoveryNote[]> {
    const done = await tools.recover(async (run, task) => {
      const known = taskId.safeParse(task);
      const found = known.success ? await store.task(run as RunId, known.data) : undefined;
      return found === undefined || found.status === 'done' || found.status === 'error' || found.status === 'canceled';
    });
    const places = await placesOf(
      done.map(({ id }) => id),
      store,
      [owner.id],
    );
    return done.map(one => noteOf(one, timestampOf(machine.clock), places.get(one.id)));
  }
}
