import * as fs from 'node:fs';
import path from 'node:path';
import { type AgentId, Bug } from '@signalbox/model';
import { type EchoStep, echoAgentProgram, echoPrompt } from '@signalbox/testkit';
import { onTestFinished } from 'vitest';
import { openHome } from '../../src/host/open-home.ts';
import { thisMachine } from '../../src/machine.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { testHostOf } from './open-host.ts';
import { until } from './until.ts';

/** A project with the fleet that a server has of it, and the echo agent as a command of its configuration. */
export async function openFleetHome(options: { readonly folder?: string; readonly echo?: object } = {}) {
  const { folder = temporaryFolder(), echo = {} } = options;
  const data = path.join(folder, 'data');
  const project = path.join(folder, 'project');
  const work = path.join(project, 'work');
  fs.mkdirSync(data, { recursive: true, mode: 0o700 });
  fs.mkdirSync(work, { recursive: true });
  const agents = {
    echo: { command: [process.execPath, echoAgentProgram], title: 'Echo', variables: ['ECHO_AGENT'] },
  };
  fs.writeFileSync(path.join(data, 'config.json'), JSON.stringify({ agents }));
  const home = await openHome({
    dataDirectory: data,
    machine: thisMachine(),
    threads: { threads: 1 },
    env: { ECHO_AGENT: JSON.stringify(echo) },
    resumeOnAnswer: true,
    fleet: { directory: project, plugins: [] },
  });
  if (!home.ok) throw new Bug(home.error.message);
  const fleet = await home.value.fleet({ directory: project, plugins: [] });
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= home.value.close());
  onTestFinished(close);
  const runs = testHostOf(project, home.value.host, home.value.owned.store, close);
  return {
    ...{ folder, data, project, work, fleet, runs, close, home: home.value },
    /** Spawns the echo agent in `work`, with what it does. */
    async spawn(name: string, steps: readonly EchoStep[], more: { readonly workstream?: string } = {}) {
      const spawned = await fleet.spawn(
        {
          name,
          plugin: 'echo',
          brief: {
            ...{ role: 'Editor', workstream: more.workstream ?? 'main', description: echoPrompt(steps) },
            workspaceRequirements: {
              mounts: [{ hostPath: 'work', sandboxPath: '/work', readOnly: false }],
              capabilities: [],
            },
          },
        },
        'ada',
      );
      if (!spawned.ok) throw new Bug(spawned.error.message);
      return spawned.value.id;
    },
    agent(id: AgentId) {
      const found = fleet.agent(id);
      if (!found.ok) throw new Bug(found.error.message);
      return found.value;
    },
    status: (id: AgentId, ...wanted: readonly string[]) =>
      until(async () => {
        const found = fleet.agent(id);
        return found.ok && wanted.includes(found.value.status) ? found.value : undefined;
      }),
    /** The first decision of an agent that waits. */
    asked: (except?: string) =>
      until(
        async () =>
          fleet.queue().flatMap(one => (one.from === 'agent' && one.decision.id !== except ? [one.decision] : []))[0],
      ),
    /** What is in the log of this kind, oldest first. */
    logged(kind: 'event' | 'quarantined' | 'trust' | 'audit' | 'brake'): readonly unknown[] {
      const page = fleet.log({ kind, limit: 500 } as never);
      if (!page.ok) throw new Bug(page.error.message);
      return page.value.entries.map(({ value }) => value).toReversed();
    },
  };
}
