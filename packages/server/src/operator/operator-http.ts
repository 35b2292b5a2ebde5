import type { GuidedRuns } from '@signalbox/app/guided';
import type { Machine, RunHost } from '@signalbox/app/host';
import type { OpenDoors } from '../access/open-doors.ts';
import { type McpByToken, mcpByToken } from '../mcp/mcp-by-token.ts';
import { mcpHttp } from '../mcp/mcp-http.ts';
import { createOperatorMcp } from './operator-mcp.ts';
import { changeBus, keptNews } from './subscriptions.ts';

/** The operator's surface over HTTP. What is done in a session bears the name of whose token it is, and needs that user's role. */
export function operatorHttp(
  host: RunHost,
  {
    timers,
    guided,
    doors,
    onFault,
  }: {
    readonly timers: Machine['timers'];
    readonly guided: GuidedRuns | undefined;
    readonly doors: OpenDoors;
    readonly onFault: (thrown: unknown) => void;
  },
): McpByToken {
  const bus = changeBus(host);
  return mcpByToken(
    ({ name, role }) =>
      mcpHttp(createOperatorMcp({ host, guided, by: name, role, onFault }), { timers, onFault, bus, kept: keptNews }),
    doors,
  );
}
