import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Bug, type Json, type RunId } from '@signalbox/model';
import type { AgentRunner } from '@signalbox/runs';
import type { Store } from '@signalbox/store';
import { openRunHost, type RunHostOptions } from '../../src/host/open-run-host.ts';
import { openOwnedStore } from '../../src/host/owned-store.ts';
import type { RunHost, StartRequest } from '../../src/host/run-host.ts';
import { thisMachine } from '../../src/machine.ts';

export interface TestHost {
  readonly host: RunHost;
  readonly store: Store;
  /** Starts a plan, given as the text of its file. */
  start(name: string, source: string, request?: Partial<StartRequest>): Promise<RunId>;
  /** How the run stands once nobody drives it. */
  end(run: RunId): Promise<object>;
  state(run: RunId): Promise<Record<string, Json>>;
  close(): Promise<void>;
}

/** An agent that nobody should ask. */
export const noAgents: AgentRunner = {
  run: async () => ({ kind: 'failed', error: { class: 'terminal', code: 'no-agents', message: 'There are none.' } }),
};

/** A host on a data directory in `folder`, with real threads and a real database. */
export async function openTestHost(folder: string, options: Partial<RunHostOptions> = {}): Promise<TestHost> {
  const dataDirectory = path.join(folder, 'data');
  const machine = thisMachine();
  const owned = openOwnedStore(dataDirectory, machine);
  if (!owned.ok) throw new Bug(owned.error.message);
  const host = await openRunHost({
    owned: owned.value,
    dataDirectory,
    machine,
    agents: noAgents,
    planRoots: [folder],
    ...options,
  });
  return testHostOf(folder, host, owned.value.store, async () => {
    await host.close();
    owned.value.close();
  });
}

export function testHostOf(folder: string, host: RunHost, store: Store, close: () => Promise<void>): TestHost {
  return {
    host,
    store,
    async start(name, source, request = {}) {
      const file = path.join(folder, `${name}.tsx`);
      writeFileSync(file, source);
      const started = await host.start({ file, anyFile: true, input: {}, ...request });
      if (!started.ok) throw new Bug(`${started.error.code}: ${started.error.message}`);
      return started.value;
    },
    async end(run) {
      await host.finished(run);
      const { status, output, error, stopReason } = (await store.run(run)) ?? {};
      return {
        status,
        ...(output === undefined ? {} : { output }),
        ...(error === undefined ? {} : { error }),
        ...(stopReason === undefined ? {} : { stopReason }),
      };
    },
    async state(run) {
      const frames = (await store.run(run))?.frames ?? 0;
      return Object.fromEntries(await store.at(run, 'state', frames));
    },
    close,
  };
}

export const planText = (body: string, state = 'z.object({})', extra = ''): string => `
import { definePlan, Agent, Each, Human, If, Keep, Parallel, Phase, Step, SubPlan, Task, While } from 'signalbox';
import * as z from 'zod';
${extra}
export default definePlan({ name: 'test', input: z.any(), state: ${state}, render: ctx => (<>${body}</>) });
`;
