import type { Blobs, RunReader } from '@signalbox/runs';
import { type AgentTools, openAgentTools } from '../agents/agent-tools.ts';
import { thisMachine } from '../machine.ts';
import { openSecrets } from '../secrets/open-secrets.ts';
import { createTurns, type Turns } from './turn-desk.ts';

/** The turns of a data directory that another process may own: read-only. */
export function openTurns(
  dataDirectory: string,
  reader: RunReader & Pick<Blobs, 'get'>,
  env: Readonly<Record<string, string | undefined>>,
): Turns {
  const machine = thisMachine();
  const { filter } = openSecrets({ dataDirectory, env, readOnly: true });
  // Most requests need no tools.
  let tools: AgentTools | undefined;
  const opened = () => {
    tools ??= openAgentTools(dataDirectory, machine);
    return tools;
  };
  return createTurns({
    dataDirectory,
    machine,
    reader,
    blobs: reader,
    tools: { atHand: () => opened().atHand(), commands: () => opened().commands() },
    clean: filter.text,
  });
}
