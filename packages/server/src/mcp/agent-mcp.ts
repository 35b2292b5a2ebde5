import { type CallToolResult, McpServer, ProtocolError } from '@modelcontextprotocol/server';
import type { GuidedTools } from '@signalbox/app/guided';
import { type ErrorEnvelope, failure, type Result } from '@signalbox/model';
import manifest from '../../package.json' with { type: 'json' };
import { agentOfferAccess, agentToolAccess, opens } from '../access/access-table.ts';
import { forbidden, type Identity } from '../access/identity.ts';
import { type Guarded, refusal, servePrompts } from './agent-prompts.ts';
import { serveResources } from './agent-resources.ts';
import { answerTexts } from './answer-text.ts';
import { errorText } from './error-text.ts';
import { inputFault } from './input-fault.ts';
import { agentInstructions, agentTools, type ToolDefinition } from './tool-definitions.ts';
import { shownAnswerSchema, shownInputSchema, shownSchema } from './tool-schema.ts';

export interface AgentMcpOptions {
  /** Called with exceptions that are answered as `command/unexpected`. */
  readonly onFault?: ((thrown: unknown) => void) | undefined;
  /** The owner of the agent's token; if absent, a person started it on standard streams. */
  readonly asker?: Pick<Identity, 'name' | 'role'> | undefined;
}

/** Creates the agent's MCP server, a new one for each connection or request. It holds no state: sessions are the port's. */
export type AgentMcp = () => McpServer;

/**
 * The agent's surface: exactly the tools of guided workflows. Every answer is structured content with the same content as text; every
 * failure is the error envelope as structured content, marked as an error, with a text that says how to recover. For clients that show
 * them there are prompts, which begin workflows, and resources to look at; nothing needs them.
 */
export function createAgentMcp(
  tools: GuidedTools,
  { onFault, asker = { name: 'agent', role: 'agent' } }: AgentMcpOptions = {},
): AgentMcp {
  return () => {
    const server = new McpServer(
      { name: 'signalbox', title: 'Signalbox guided workflows', version: manifest.version },
      { instructions: agentInstructions, capabilities: { tools: {}, prompts: {}, resources: {} } },
    );
    for (const [tool, schemas] of shown) {
      const { name, title, description, annotations } = tool;
      server.registerTool(name, { title, description, annotations, ...schemas }, async given => {
        const needed = agentToolAccess[name];
        if (!opens(asker.role, needed)) return failed(tool, forbidden(asker, needed));
        try {
          return await call(tools, tool, given);
        } catch (thrown) {
          onFault?.(thrown);
          return failed(tool, unexpected(tool.name));
        }
      });
    }
    const guarded: Guarded = async (what, answer) => {
      const needed = agentOfferAccess[what];
      if (!opens(asker.role, needed)) throw refusal(forbidden(asker, needed));
      try {
        return await answer();
      } catch (thrown) {
        if (thrown instanceof ProtocolError) throw thrown;
        onFault?.(thrown);
        throw refusal(unexpected(`reading a ${what === 'prompts' ? 'prompt' : what}`));
      }
    };
    servePrompts(server, tools, guarded);
    serveResources(server, tools, guarded);
    return server;
  };
}

const shown = agentTools.map(tool => {
  const inputSchema = shownSchema(() => shownInputSchema(tool.input));
  return [tool, { inputSchema, outputSchema: shownSchema(() => shownAnswerSchema(tool.answer)) }] as const;
});

async function call(tools: GuidedTools, tool: ToolDefinition, given: unknown): Promise<CallToolResult> {
  const parsed = tool.input.safeParse(given ?? {});
  if (!parsed.success) return failed(tool, inputFault(tool, parsed.error));
  // The tool's schema has just checked it; the port's types are inferred from the same schema.
  const ask = tools[tool.key] as (input: unknown) => Promise<Result<Record<string, unknown>, ErrorEnvelope>>;
  const answer = await ask.call(tools, parsed.data);
  if (!answer.ok) return failed(tool, answer.error);
  const text = answerTexts[tool.key] as (answer: Record<string, unknown>) => string;
  return { content: [{ type: 'text', text: text(answer.value) }], structuredContent: answer.value };
}

function failed(tool: ToolDefinition, error: ErrorEnvelope): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: errorText(tool, error) }], structuredContent: { ...error } };
}

/** The exception is not sent: it may contain secrets. */
function unexpected(what: string): ErrorEnvelope<'command/unexpected'> {
  return failure('command/unexpected', {
    message: `${what} failed unexpectedly.`,
    suggestion:
      'Nothing that was acknowledged is lost. Tell the person that this call failed and that the server log has details.',
  });
}
