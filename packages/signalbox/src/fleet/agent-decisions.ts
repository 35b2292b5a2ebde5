import type { FleetReads } from '@signalbox/app/fleet';
import type { Resolution } from '@signalbox/app/host';
import type { Client } from '@signalbox/client';
import { askedDataDirectory, type DataFlags } from '../data-directory-option.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Terminal } from '../terminal.ts';
import { ownerClient } from '../users/owner-client.ts';
import { withFleet } from './fleet-access.ts';
import { describeQueued } from './fleet-report.ts';

type Queued = Extract<ReturnType<FleetReads['queue']>[number], { readonly from: 'agent' }>;

/** The decisions of agents that wait; none while no server runs. */
export async function agentDecisions(dataDir: string | undefined): Promise<readonly Queued[]> {
  return waiting(await ownerClient(askedDataDirectory(dataDir)));
}

/** The decision of an agent whose id begins so; undefined if there is none, or if several do. */
export async function findAgentDecision(dataDir: string | undefined, given: string): Promise<Queued | undefined> {
  const found = (await agentDecisions(dataDir)).filter(({ decision }) => decision.id.startsWith(given));
  return found.length === 1 ? found[0] : undefined;
}

export function answerAgent(
  terminal: Terminal,
  { decision: { id, proposalHash } }: Queued,
  resolution: Resolution,
  flags: DataFlags,
): Promise<ExitCode> {
  return withFleet(
    terminal,
    flags,
    client => client.resolveDecision(id, { resolution, proposalHash }),
    answered => [describeQueued(answered)],
  );
}

async function waiting(client: Client | undefined): Promise<readonly Queued[]> {
  const queue = await client?.queue();
  if (queue?.ok !== true) return [];
  return queue.value.decisions.flatMap(one => (one.from === 'agent' ? [one] : []));
}
