import type { GuidedRuns } from '@signalbox/app/guided';
import type { Machine, RunHost } from '@signalbox/app/runs';
import { type McpHttp, mcpHttp } from '../mcp/mcp-http.ts';
import { createOperatorMcp } from './operator-mcp.ts';
import { changeBus, keptNews } from './subscriptions.ts';

export interface OperatorHttp {
  /** Answers a request of a user. Nobody can use a session of somebody else: what is done in it bears its user's name. */
  route(request: Request, user: string): Promise<Response>;
  close(): Promise<void>;
}

export function operatorHttp(
  host: RunHost,
  {
    timers,
    guided,
    onFault,
  }: {
    readonly timers: Machine['timers'];
    readonly guided: GuidedRuns | undefined;
    readonly onFault: (thrown: unknown) => void;
  },
): OperatorHttp {
  const byUser = new Map<string, McpHttp>();
  const bus = changeBus(host);
  const newDesk = (user: string) =>
    mcpHttp(createOperatorMcp({ host, guided, by: user, onFault }), { timers, onFault, bus, kept: keptNews });
  return {
    route(request, user) {
      const own = byUser.get(user) ?? newDesk(user);
      byUser.set(user, own);
      return own.route(request);
    },
    async close() {
      for (const own of byUser.values()) await own.close();
    },
  };
}
