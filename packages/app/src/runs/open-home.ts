import type { ErrorEnvelope, Result } from '@signalbox/model';
import { ok } from '@signalbox/model';
import type { AgentRunner } from '@signalbox/runs';
import type { Recovery } from '@signalbox/state';
import { openAgentTools } from '../agents/agent-tools.ts';
import { builtinAgents } from '../agents/builtin-agents.ts';
import type { Machine } from '../machine.ts';
import { homeRetention } from '../retention/home-ports.ts';
import { openWorkspaceDesk } from '../workspaces/workspace-desk.ts';
import { openRunHost, type RunHostOptions } from './open-run-host.ts';
import { type OwnedStore, openOwnedStore } from './owned-store.ts';
import type { RunHost } from './run-host.ts';

/** A data directory that this process owns, with everything that its runs need. */
export interface Home {
  readonly host: RunHost;
  readonly owned: OwnedStore;
  /** Tool calls that a process had begun when it died, and what became of them. */
  readonly recoveries: readonly Recovery[];
  /** Pauses what is driven, and gives the directory back. */
  close(): Promise<void>;
}

export interface HomeOptions extends Pick<RunHostOptions, 'threads' | 'resumeOnAnswer' | 'trace' | 'dev'> {
  readonly dataDirectory: string;
  readonly machine: Machine;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Instead of the agent that comes along. */
  readonly agents?: AgentRunner;
}

/** Opens the data directory for work: what was cut off is undone first. Refused while another process owns it. */
export async function openHome(options: HomeOptions): Promise<Result<Home, ErrorEnvelope>> {
  const { dataDirectory, machine, env } = options;
  const owned = openOwnedStore(dataDirectory, machine);
  if (!owned.ok) return owned;
  const { store } = owned.value;
  const tools = openAgentTools(dataDirectory, machine);
  const recoveries = await tools.recover();
  const workspaces = openWorkspaceDesk({ dataDirectory, machine, reader: store, blobs: store, tools });
  await workspaces.recover();
  const agents = options.agents ?? builtinAgents({ machine, tools, store, env });
  const retention = homeRetention(dataDirectory, machine.clock, workspaces);
  const host = await openRunHost({ ...options, ...retention, owned: owned.value, agents, tools, workspaces });
  return ok({
    host,
    owned: owned.value,
    recoveries,
    async close() {
      await host.close();
      owned.value.close();
    },
  });
}
