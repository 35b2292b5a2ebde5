import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { AgentMcp } from './agent-mcp.ts';

/** Serves one client on the standard streams until it closes its end. Nothing else may write to standard output. */
export function serveOnStdio(mcp: AgentMcp, onFault: (thrown: unknown) => void): Promise<void> {
  return new Promise(resolve => {
    const transport = new StdioServerTransport();
    serveStdio(mcp, { transport, onerror: onFault });
    const closed = transport.onclose;
    transport.onclose = () => {
      closed?.();
      resolve();
    };
  });
}
