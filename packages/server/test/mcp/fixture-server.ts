import { McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';

const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] });
/** Between two messages of a call others have their turn. */
const aTurn = () => new Promise(resolve => setImmediate(resolve));

/** The tools of the conformance suite that send something while they are called: what a transport must carry. */
export function fixtureServer(): McpServer {
  const server = new McpServer({ name: 'fixtures', version: '1' }, { capabilities: { tools: {} } });

  server.registerTool('test_tool_with_progress', {}, async ctx => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
      await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
      await aTurn();
    }
    return text('Done.');
  });

  server.registerTool(
    'test_elicitation',
    { inputSchema: z.object({ message: z.string() }) },
    async ({ message }, ctx) => {
      const properties = { username: { type: 'string' as const }, email: { type: 'string' as const } };
      const requestedSchema = { type: 'object' as const, properties, required: ['username', 'email'] };
      const answer = await ctx.mcpReq.elicitInput({ message, requestedSchema });
      return text(`User response: ${JSON.stringify(answer)}`);
    },
  );

  server.registerTool('test_reconnection', {}, async ctx => {
    ctx.http?.closeSSE?.();
    await aTurn();
    return text('Reconnection test completed successfully.');
  });
  return server;
}
