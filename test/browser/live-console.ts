import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openUsers } from '@signalbox/app';
import { playScenario, type ScenarioChoice, scenarioPlugins } from '@signalbox/app/fleet-demo';
import { type GuidedTools, openGuidedSessions, openGuidedTools } from '@signalbox/app/guided';
import { type Home, openHome, thisMachine } from '@signalbox/app/host';
import { type Client, createClient } from '@signalbox/client';
import { type RunningServer, startServer } from '@signalbox/server';
import { repositoryRoot } from '../../scripts/local-program.ts';
import { type BuiltConsole, builtConsole } from './built-console.ts';

const TOKEN = 'a-token-of-this-test';
const plans = path.join(repositoryRoot, 'packages/console/test/plans');

/** The whole of Signalbox on a data directory of its own: real plans, real agents on a scripted model, real files. */
export interface LiveConsole {
  readonly client: Client;
  readonly url: string;
  readonly token: string;
  /** A plan's file, by its name. */
  plan(name: string): string;
  readonly dataDirectory: string;
  /** Where workflows of the project are looked for. */
  readonly workflows: string;
  /** Where agents work. */
  readonly project: string;
  /** The tools of agents for guided workflows. */
  readonly guided: GuidedTools;
  /** While this file is there, what can fail fails. */
  readonly broken: string;
  break(): void;
  mend(): void;
  /** Ends the server and everything in it. */
  stop(): Promise<void>;
  /** Begins again where it was, at the same address. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface LiveOptions {
  /** The environment of the server; empty if left out. */
  readonly env?: Readonly<Record<string, string>>;
  /** The configuration of its data directory. */
  readonly config?: object;
  /** Serves the fleet of the project, whose agents play this. */
  readonly scenario?: ScenarioChoice;
}

export async function openLiveConsole({ env = {}, config, scenario }: LiveOptions = {}): Promise<LiveConsole> {
  const built: BuiltConsole = builtConsole();
  const folder = mkdtempSync(path.join(os.tmpdir(), 'signalbox-live-'));
  const [dataDirectory, project, broken] = ['data', 'project', 'broken'].map(name => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  const workflows = path.join(folder, 'workflows');
  mkdirSync(workflows);
  const directories = [{ kind: 'project', directory: workflows }] as const;
  cpSync(plans, path.join(folder, 'plans'), { recursive: true });
  mkdirSync(project);
  mkdirSync(dataDirectory, { mode: 0o700 });
  if (config !== undefined) writeFileSync(path.join(dataDirectory, 'config.json'), JSON.stringify(config));
  writeFileSync(path.join(project, 'CHANGES.md'), '# Changes\n\n## 2.3.1\n\n- The export keeps its order.\n');
  const guided = openGuidedTools({ dataDirectory, directories, machine: thisMachine() });
  let home: Home | undefined;
  let server: RunningServer | undefined;

  const start = async () => {
    const machine = thisMachine();
    const opened = await openHome({ dataDirectory, machine, env, planRoots: [folder], resumeOnAnswer: true });
    if (!opened.ok) throw new Error(opened.error.message);
    home = opened.value;
    const { timers } = machine;
    const fleet = scenario && (await home.fleet({ directory: project, ...scenarioPlugins(machine, scenario) }));
    if (fleet !== undefined && scenario !== undefined) await playScenario(fleet, scenario, machine.clock, 'ada');
    const started = await startServer({
      host: home.host,
      token: TOKEN,
      port: server?.port ?? 0,
      timers,
      guided,
      sessions: openGuidedSessions({ dataDirectory, directories, machine }),
      users: openUsers(dataDirectory, machine),
      settings: home.settings({ directoryFrom: 'program', workflowDirectories: [] }),
      agents: home.agentJobs(),
      fleet,
      consoleDirectory: built.directory,
    });
    if (!started.ok) throw new Error(started.error.message);
    server = started.value;
  };
  const stop = async () => {
    await server?.close();
    await home?.close();
    home = undefined;
  };
  await start();
  const url = server === undefined ? '' : (server as RunningServer).url;
  return {
    client: createClient({ url, token: TOKEN }),
    url,
    token: TOKEN,
    plan: name => path.join(folder, 'plans', `${name}.tsx`),
    dataDirectory,
    workflows,
    project,
    guided,
    broken,
    break: () => writeFileSync(broken, ''),
    mend: () => rmSync(broken, { force: true }),
    stop,
    start,
    async close() {
      await stop();
      built.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
