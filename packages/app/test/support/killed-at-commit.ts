import path from 'node:path';
import { Bug } from '@signalbox/model';
import type { AgentRunner, Commit } from '@signalbox/runs';
import { killThisProcess } from '@signalbox/testkit';
import { openRunHost } from '../../src/host/open-run-host.ts';
import { openOwnedStore } from '../../src/host/owned-store.ts';
import { thisMachine } from '../../src/machine.ts';

/**
 * The owner of the data directory in a folder. It kills its process at the commit that `kill` names: `before:3`, `after:3`, or `never`.
 */
export async function openKilledAtCommit(
  folder: string,
  kill: string,
  options: {
    readonly agents: AgentRunner;
    readonly resumeOnAnswer?: boolean;
    readonly onCommit?: (n: number) => void;
  },
) {
  const { agents, resumeOnAnswer = false, onCommit } = options;
  const [when, at] = kill.split(':');
  const dataDirectory = path.join(folder, 'data');
  const machine = thisMachine();
  const opened = openOwnedStore(dataDirectory, machine);
  if (!opened.ok) throw new Bug(opened.error.message);
  const { store } = opened.value;
  let commits = 0;
  const commit: Commit['commit'] = async (writes, guard) => {
    commits += 1;
    const isHere = commits === Number(at);
    if (isHere && when === 'before') killThisProcess();
    onCommit?.(commits);
    const committed = await store.commit(writes, guard);
    if (isHere && when === 'after') killThisProcess();
    return committed;
  };
  const owned = { ...opened.value, store: { ...store, commit } };
  const host = await openRunHost({ owned, dataDirectory, machine, agents, threads: { threads: 1 }, resumeOnAnswer });
  const close = async () => {
    await host.close();
    opened.value.close();
  };
  return { host, store, close };
}
