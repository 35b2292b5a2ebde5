import { createMcpHandler } from '@modelcontextprotocol/server';
import { BODY_MAX_BYTES } from '../http/body-text.ts';
import type { AgentMcp } from './agent-mcp.ts';

/** Answers one request of an MCP client. Who may ask was settled before; nothing is kept between requests. */
export type McpRoute = (request: Request) => Promise<Response>;

export function mcpRoute(mcp: AgentMcp, onFault: (thrown: unknown) => void = () => undefined): McpRoute {
  const handler = createMcpHandler(mcp, { maxRequestBodySize: BODY_MAX_BYTES, onerror: onFault });
  return request => handler.fetch(request);
}
