export { createAccess, type KnownUsers } from './http/access.ts';
export { createHttpApp, type HttpAppOptions } from './http/http-app.ts';
export { type AgentMcp, type AgentMcpOptions, createAgentMcp } from './mcp/agent-mcp.ts';
export { type McpHttp, type McpHttpOptions, type McpRoute, mcpHttp } from './mcp/mcp-http.ts';
export { serveOnStdio } from './mcp/mcp-stdio.ts';
export { agentToolsReference } from './mcp/reference.ts';
export { createRunMetrics, type RunMetrics } from './metrics/run-metrics.ts';
export { GRACE_MS, type RunningServer, type ServerOptions, startServer } from './start-server.ts';
