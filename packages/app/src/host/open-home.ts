import { providerReferences } from '@signalbox/adapters/providers';
import type { ErrorEnvelope, Result } from '@signalbox/model';
import { ok, type RecoveryNote, thrownText, timestampOf } from '@signalbox/model';
import type { AgentRunner, TurnSurface } from '@signalbox/runs';
import { type AgentJobs, openAgentJobs } from '../agent-register/agent-jobs.ts';
import { type AgentRegister, openAgentRegister } from '../agent-register/agent-register.ts';
import { acpAgents, changesOverIn, taskOverIn } from '../agents/acp-agents.ts';
import { openAgentHomes } from '../agents/agent-homes.ts';
import { openAgentTools } from '../agents/agent-tools.ts';
import { offeredTools } from '../agents/offered-tools.ts';
import { rehearsedAgents } from '../agents/rehearsed-agents.ts';
import { createFleetDesk, type FleetDesk } from '../fleet/fleet-desk.ts';
import { type FleetOptions, homeFleets } from '../fleet-agents/home-fleets.ts';
import { openLimits } from '../limits/open-limits.ts';
import { lazyHostLog } from '../logs/lazy-host-log.ts';
import type { Log } from '../logs/log.ts';
import { readLogSettings } from '../logs/log-config.ts';
import { openRunLogs } from '../logs/run-log-files.ts';
import { createRunLogWriter } from '../logs/run-log-writer.ts';
import type { Machine } from '../machine.ts';
import type { MeterEdge } from '../meter/door.ts';
import { createKeptCalls } from '../meter/kept-calls.ts';
import { countLostCalls } from '../meter/lost-calls.ts';
import { createMeter } from '../meter/meter.ts';
import { openRecoveryBook } from '../recoveries/recovery-book.ts';
import { noteOf, placesOf } from '../recoveries/recovery-note.ts';
import { finishTaking } from '../redact/finish-taking.ts';
import { homeRetention } from '../retention/home-ports.ts';
import { createJournalThread } from '../run-journal/journal-thread.ts';
import { openSettings, type SettingsDesk, type SettingsOptions } from '../settings/open-settings.ts';
import { openTelemetry } from '../telemetry/telemetry.ts';
import type { Launch } from '../threads/plan-worker-start.ts';
import { openWorkspaceDesk } from '../workspaces/workspace-desk.ts';
import { openRunHost, type RunHostOptions } from './open-run-host.ts';
import { type OwnedStore, openOwnedStore } from './owned-store.ts';
import { type PlanPlaces, planPlaces } from './plan-places.ts';
import { createRunBudget } from './run-budget.ts';
import type { RunHost } from './run-host.ts';

/** A data directory that this process owns, with everything that its runs need. */
export interface Home {
  readonly host: RunHost;
  readonly owned: OwnedStore;
  /** Tool calls that were running when the previous process ended, and how this start handled them. */
  readonly recovered: readonly RecoveryNote[];
  /** The log of the process itself: `logs/host.ndjson`. */
  readonly log: Log;
  /** What may be named over REST and MCP. */
  readonly places: PlanPlaces;
  /** The settings of the process. */
  settings(more: Pick<SettingsOptions, 'directoryFrom' | 'workflowDirectories'>): SettingsDesk;
  /** The fleet of the project in a directory, which agents of all runs of the home join from now on; it ends with the home. */
  fleet(options: FleetOptions): Promise<FleetDesk>;
  /** Installs, checks and removes the agents of the data directory. Closed before the home. */
  agentJobs(): AgentJobs;
  /** Pauses driven runs, and releases the directory. */
  close(): Promise<void>;
}

export interface HomeOptions extends Pick<RunHostOptions, 'threads' | 'resumeOnAnswer' | 'trace' | 'planRoots'> {
  readonly dataDirectory: string;
  readonly machine: Machine;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Replaces the agents of the data directory. */
  readonly agents?: AgentRunner;
  /** Agents answer without models: what a file beside the plan says, or something that fits their schema. */
  readonly isRehearsal?: boolean;
  /** The agents that can be used, instead of those of the data directory. */
  readonly register?: AgentRegister;
  /** How long the process of an agent waits for a person before it is ended, to be started again with the answer. */
  readonly parkMs?: number;
  /** Offers agents the tools of their turns (`/mcp/turn`); closed with the home. */
  readonly turns?: TurnSurface & { close(): Promise<void> };
  /** Leads agents' calls of their models through the meter; closed with the home. */
  readonly meter?: MeterEdge;
  readonly launch?: Launch | undefined;
  /** The fleet of this process, opened before any run goes on: a brake of it holds their agents. */
  readonly fleet?: FleetOptions;
  /** It is opened to remove data, so its reserve can be used on a full disk. */
  readonly makesRoom?: boolean;
}

const PARK_MS = 600_000;

/** Opens the data directory for work: interrupted calls are undone first. Refused while another process owns it. */
export async function openHome(options: HomeOptions): Promise<Result<Home, ErrorEnvelope>> {
  const { dataDirectory, machine, env } = options;
  const owned = openOwnedStore(dataDirectory, machine, env, options.makesRoom);
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
  const lost = await countLostCalls({ store, machine }, owner.id);
  if (lost > 0)
    log.say('warn', 'calls of models were lost with the process before; all that they may have spent is counted', {
      calls: lost,
    });
  const tools = openAgentTools(dataDirectory, machine, filter);
  // Their processes end before what they changed is looked at.
  const homes = openAgentHomes(dataDirectory);
  const recoveries = openRecoveryBook(dataDirectory, machine.clock);
  const recovered = filter.data(await recover());
  recoveries.add(recovered);
  for (const recovery of recovered) log.say('warn', 'a tool call that was cut off was dealt with', { recovery });
  const workspaces = openWorkspaceDesk({ dataDirectory, machine, reader: store, blobs: store, tools });
  await workspaces.recover();
  // Without anybody to go on when it is answered, the run rests at once and says how.
  const { parkMs = options.resumeOnAnswer === true ? PARK_MS : 0 } = options;
  const limits = openLimits({ dataDirectory, reader: store, clock: machine.clock });
  const budget = createRunBudget({ reader: store, clock: machine.clock, ceilings: limits.ceilings });
  const meter =
    options.meter &&
    createMeter({
      edge: options.meter,
      machine,
      kept: createKeptCalls(store, filter, dataDirectory),
      log: (words, fields) => log.say('warn', words, fields),
    });
  const { register = openAgentRegister({ dataDirectory, env }) } = options;
  const real =
    options.agents ??
    acpAgents({
      ...{ machine, tools, store, env, dataDirectory, homes, secrets, parkMs, turns: options.turns, meter, budget },
      register,
    });
  const { agents, fleetOf, fleets } = homeFleets({
    ...{ dataDirectory, machine, store, register, log, filter },
    runner: options.isRehearsal === true ? rehearsedAgents(real) : real,
  });
  if (options.fleet !== undefined) await fleetOf(options.fleet);
  const providers = providerReferences(env);
  const retention = homeRetention(dataDirectory, machine.clock, workspaces);
  const host = await openRunHost({
    ...options,
    ...retention,
    threads: { ...options.threads, launch: options.launch },
    owned: owned.value,
    limits,
    recoveries,
    agents,
    tools,
    workspaces,
    providers,
    clean: filter.text,
    // Runs that rest when the host closes still have lines to write.
    derived: { ...derived, close: async () => {} },
  });
  const warn = (why: string) => log.say('warn', 'telemetry is not sent', { why });
  const telemetry = openTelemetry({ dataDirectory, env, feed: store, machine, warn });
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
    fleet: async given => createFleetDesk(await fleetOf(given), store, machine),
    agentJobs() {
      return openAgentJobs({ dataDirectory, env, machine, register, turns: options.turns, clean: filter.text });
    },
    async close() {
      // Agents of plans leave their fleets when their runs rest.
      await host.close();
      await fleets.close();
      await options.turns?.close();
      await meter?.close();
      await telemetry?.close();
      await logs.close();
      const ended = derived.close();
      // While its thread ends.
      store.checkpoint();
      await ended;
      await log.close();
      owned.value.close();
    },
  });

  async function recover(): Promise<readonly RecoveryNote[]> {
    const isOver = taskOverIn(store);
    const done = await tools.recover(changesOverIn(store));
    const dropped = done.flatMap(({ evaluation, outcome }) =>
      evaluation === undefined || outcome.kind !== 'dropped'
        ? []
        : [[evaluation, outcome.isUntouched === true] as const],
    );
    await homes.recover(isOver, new Map(dropped));
    const places = await placesOf(
      done.map(({ id }) => id),
      store,
      [owner.id],
    );
    return done.map(one => noteOf(one, timestampOf(machine.clock), places.get(one.id)));
  }
}
