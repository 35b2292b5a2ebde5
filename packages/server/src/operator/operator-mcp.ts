import {
  type CallToolResult,
  McpServer,
  type McpServerFactory,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import { allRunsOf } from '@signalbox/app/all-runs';
import type { FleetDesk } from '@signalbox/app/fleet';
import type { GuidedRuns } from '@signalbox/app/guided';
import { type RunHost, thrownDamage } from '@signalbox/app/host';
import { type ErrorEnvelope, failure, type UserRole } from '@signalbox/model';
import manifest from '../../package.json' with { type: 'json' };
import { OPERATOR } from '../access/access.ts';
import { opens, operatorResourceAccess, operatorToolAccess } from '../access/access-table.ts';
import { forbidden } from '../access/identity.ts';
import { inputFault } from '../mcp/input-fault.ts';
import { answerJsonSchema, inputJsonSchema, shownSchema } from '../mcp/tool-schema.ts';
import { operatorInstructions } from './instructions.ts';
import type { OperatorHost } from './resource-reads.ts';
import { operatorResources, resourceAt } from './resources.ts';
import { tellNews } from './subscriptions.ts';
import type { OperatorTool, ToolDesk } from './tool.ts';
import { operatorTools } from './tools.ts';

export interface OperatorMcpOptions {
  readonly host: RunHost;
  /** Guided runs, shown beside plan runs. */
  readonly guided?: GuidedRuns | undefined;
  /** The agents of the project. */
  readonly fleet?: FleetDesk | undefined;
  /** The name in events; defaults to the holder of the data directory's token. */
  readonly by?: string | undefined;
  /** The role of the user; defaults to everything. */
  readonly role?: UserRole | undefined;
  /** The server's HTTP address; HTTP requests carry it themselves. */
  readonly url?: string | undefined;
  /** Whether the client reads so slowly that news must be dropped and counted. HTTP streams have their own bounds. */
  readonly isFull?: (() => boolean) | undefined;
  /** Called with exceptions that are answered as `command/unexpected`. */
  readonly onFault?: ((thrown: unknown) => void) | undefined;
}

/**
 * The operator's surface (R9): state as resources, actions as tools, and news of commits. Each session, connection or request gets a new
 * server, which holds only its client's subscriptions.
 */
export function createOperatorMcp(options: OperatorMcpOptions): McpServerFactory {
  const { host, guided, by = OPERATOR, role = 'owner', url, isFull = () => false, onFault = () => undefined } = options;
  const runs = allRunsOf(host, guided);
  const asker = { name: by, role };
  return context => {
    const server = new McpServer(
      { name: 'signalbox-operator', title: 'Signalbox, for operators', version: manifest.version },
      { instructions: operatorInstructions, capabilities: { tools: {}, resources: { subscribe: true } } },
    );
    const desk: ToolDesk = { host, runs, fleet: options.fleet, by, url: context.requestInfo?.url ?? url };
    for (const [tool, schemas] of shown) {
      const { name, title, description, annotations } = tool;
      server.registerTool(name, { title, description, annotations, ...schemas }, async given => {
        const needed = operatorToolAccess[tool.name];
        if (!opens(role, needed)) return failed(forbidden(asker, needed));
        try {
          return await call(desk, tool, given);
        } catch (thrown) {
          onFault(thrown);
          return failed(thrownDamage(thrown) ?? unexpected(name));
        }
      });
    }
    const { reader, driven, providers, inspection } = host;
    serveResources(server, { reader, driven, providers, inspection, runs }, asker, onFault);
    tellNews(server, host, context, isFull);
    return server;
  };
}

const shown = operatorTools.map(tool => {
  const inputSchema = shownSchema(() => inputJsonSchema(tool.input));
  return [tool, { inputSchema, outputSchema: shownSchema(() => answerJsonSchema(tool.answer)) }] as const;
});

async function call(desk: ToolDesk, tool: OperatorTool, given: unknown): Promise<CallToolResult> {
  const parsed = tool.input.safeParse(given ?? {});
  if (!parsed.success) return failed(inputFault(tool, parsed.error));
  const answer = await tool.call(desk, parsed.data);
  if (!answer.ok) return failed(answer.error);
  const { value, attached = [] } = answer.value;
  return {
    content: [{ type: 'text', text: JSON.stringify(value, undefined, 2) }, ...attached],
    structuredContent: { ...value },
  };
}

function serveResources(
  server: McpServer,
  host: OperatorHost,
  asker: { readonly name: string; readonly role: UserRole },
  onFault: (thrown: unknown) => void,
): void {
  const described = operatorResources.map(({ name, uri, description }) => ({
    name,
    uri: uri.replace(/\{\?.*$/, ''),
    template: uri,
    description,
    mimeType: JSON_TYPE,
  }));
  const isTemplate = ({ uri }: { readonly uri: string }) => uri.includes('{');
  server.server.setRequestHandler('resources/list', () => ({
    resources: described.filter(each => !isTemplate(each)).map(({ template: _, ...resource }) => resource),
  }));
  server.server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: described
      .filter(({ template }) => template.includes('{'))
      .map(({ uri: _, template, ...resource }) => ({ ...resource, uriTemplate: template })),
  }));
  server.server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    const found = resourceAt(uri);
    if (found === undefined) throw refusedRead(unknownResource(uri));
    const needed = operatorResourceAccess[found.access];
    if (!opens(asker.role, needed)) throw refusedRead(forbidden(asker, needed));
    let read: Awaited<ReturnType<typeof found.resource.read>>;
    try {
      read = await found.resource.read(host, found.place);
    } catch (thrown) {
      onFault(thrown);
      throw refusedRead(thrownDamage(thrown) ?? unexpected(`reading ${found.resource.name}`));
    }
    if (!read.ok) throw refusedRead(read.error);
    return { contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(read.value) }] };
  });
}

const JSON_TYPE = 'application/json';

function failed(error: ErrorEnvelope): CallToolResult {
  const text = `${error.code}: ${error.message}\n${error.suggestion}`;
  return { isError: true, content: [{ type: 'text', text }], structuredContent: { ...error } };
}

function refusedRead(error: ErrorEnvelope): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `${error.message} ${error.suggestion}`, error);
}

function unknownResource(uri: string): ErrorEnvelope {
  return failure('request/unknown-route', {
    message: `There is no resource ${uri.slice(0, 200)}.`,
    suggestion: 'List the resources and their templates.',
  });
}

/** The exception is not sent: it may contain secrets. */
function unexpected(what: string): ErrorEnvelope {
  return failure('command/unexpected', {
    message: `${what} failed unexpectedly.`,
    suggestion: 'Nothing that was acknowledged is lost. See the server log.',
  });
}
