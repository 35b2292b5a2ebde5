import type { FleetDesk } from '@signalbox/app/fleet';
import type { GuidedRuns } from '@signalbox/app/guided';
import type { Machine, RunHost } from '@signalbox/app/host';
import type { Access } from '../access/access.ts';
import type { OpenDoors } from '../access/open-doors.ts';
import { type McpByToken, mcpByToken } from '../mcp/mcp-by-token.ts';
import { mcpHttp } from '../mcp/mcp-http.ts';
import { createOperatorMcp } from './operator-mcp.ts';
import { changeBus, keptNews } from './subscriptions.ts';

/** The operator's surface over HTTP. Actions in a session are recorded under the name of the token's owner and need that user's role. */
export function operatorHttp(
  host: RunHost,
  {
    timers,
    guided,
    fleet,
    doors,
    access,
    onFault,
  }: {
    readonly timers: Machine['timers'];
    readonly guided: GuidedRuns | undefined;
    readonly fleet: FleetDesk | undefined;
    readonly doors: OpenDoors;
    readonly access: Pick<Access, 'isCurrent'>;
    readonly onFault: (thrown: unknown) => void;
  },
): McpByToken {
  const bus = changeBus(host);
  return mcpByToken(
    ({ name, role }) =>
      mcpHttp(createOperatorMcp({ host, guided, fleet, by: name, role, onFault }), {
        timers,
        onFault,
        bus,
        kept: keptNews,
      }),
    doors,
    access,
  );
}
