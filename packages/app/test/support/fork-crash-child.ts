// Does one thing to a run of a data directory, and may kill its own process at the commit that records it.
//   node fork-crash-child.ts DATA fork|undo|rollback RUN FRAME|CALL [before|after]
// It prints a line before it begins, and one when it is done.
import { Bug, runId } from '@signalbox/model';
import type { Commit } from '@signalbox/runs';
import { killThisProcess } from '@signalbox/testkit';
import { openAgentTools } from '../../src/agents/agent-tools.ts';
import { openRunHost } from '../../src/host/open-run-host.ts';
import { openOwnedStore } from '../../src/host/owned-store.ts';
import { thisMachine } from '../../src/machine.ts';
import { openWorkspaceDesk } from '../../src/workspaces/workspace-desk.ts';
import { noAgents } from './open-host.ts';

const [dataDirectory = '', what, given, where = '', when] = process.argv.slice(2);
const run = runId.parse(given);
const machine = thisMachine();
const opened = openOwnedStore(dataDirectory, machine);
if (!opened.ok) throw new Bug(opened.error.message);
const { store } = opened.value;
const commit: Commit['commit'] = async (writes, guard) => {
  if (when === 'before') killThisProcess();
  const committed = await store.commit(writes, guard);
  if (when === 'after') killThisProcess();
  return committed;
};
const tools = openAgentTools(dataDirectory, machine);
await tools.recover();
const workspaces = openWorkspaceDesk({ dataDirectory, machine, reader: store, blobs: store, tools });
await workspaces.recover();
const owned = { ...opened.value, store: { ...store, commit } };
const host = await openRunHost({ owned, dataDirectory, machine, agents: noAgents, tools, workspaces });
console.log('begins');
const deeds = {
  fork: () => host.fork(run, { at: { kind: 'frame', frame: Number(where) }, paused: true }, 'ada'),
  undo: () => host.undo(run, where, {}, 'ada'),
  rollback: () => host.rollback(run, { call: where, paused: true }, 'ada'),
};
const done = await deeds[what as keyof typeof deeds]();
if (!done.ok) throw new Bug(done.error.message);
await host.close();
opened.value.close();
console.log('done');
