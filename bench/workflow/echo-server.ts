// The least that an MCP server can do, with the SDK that ours uses: one tool on stdio that answers with what it was given.
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

serveStdio(() => {
  const server = new McpServer({ name: 'echo', version: '1' }, { capabilities: { tools: {} } });
  server.registerTool('echo', { inputSchema: z.looseObject({}) }, given => ({
    content: [{ type: 'text', text: JSON.stringify(given) }],
    structuredContent: given,
  }));
  return server;
});
