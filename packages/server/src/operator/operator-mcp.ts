import {
  type CallToolResult,
  McpServer,
  type McpServerFactory,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import type { RunHost } from '@signalbox/app/runs';
import { type ErrorEnvelope, failure } from '@signalbox/model';
import type * as z from 'zod';
import manifest from '../../package.json' with { type: 'json' };
import { inputJsonSchema, shownSchema } from '../mcp/tool-schema.ts';
import { notificationsOf } from './notifications.ts';
import { operatorResources, resourceAt } from './resources.ts';
import { type OperatorTool, operatorTools } from './tools.ts';

export interface OperatorMcpOptions {
  readonly host: RunHost;
  /** Who acts, as the events say it. */
  readonly by: string;
  /** Told of what was thrown and answered with `command/unexpected`. */
  readonly onFault?: ((thrown: unknown) => void) | undefined;
}

const instructions = `Signalbox runs plans of AI agents durably. Read what happens under signalbox://executions; act with the tools. An execution that waits has approvals: answer them with approval.respond. Every failure says what to do next.`;

/**
 * The operator's surface (R9): what happens as resources, what to do about it as tools, and news of every commit to whoever
 * keeps a session. A fresh server for each session or request; it keeps nothing.
 */
export function createOperatorMcp({ host, by, onFault = () => undefined }: OperatorMcpOptions): McpServerFactory {
  return () => {
    const server = new McpServer(
      { name: 'signalbox-operator', title: 'Signalbox, for operators', version: manifest.version },
      { instructions, capabilities: { tools: {}, resources: {} } },
    );
    for (const [tool, inputSchema] of shown) {
      const { name, title, description, annotations } = tool;
      server.registerTool(name, { title, description, annotations, inputSchema }, async given => {
        try {
          return await call(host, tool, given, by);
        } catch (thrown) {
          onFault(thrown);
          return failed(unexpected(name));
        }
      });
    }
    serveResources(server, host, onFault);
    tellNews(server, host);
    return server;
  };
}

const shown = operatorTools.map(tool => [tool, shownSchema(() => inputJsonSchema(tool.input))] as const);

async function call(host: RunHost, tool: OperatorTool, given: unknown, by: string): Promise<CallToolResult> {
  const parsed = tool.input.safeParse(given ?? {});
  if (!parsed.success) return failed(unfit(tool.name, parsed.error));
  const answer = await tool.call(host, parsed.data, by);
  if (!answer.ok) return failed(answer.error);
  return {
    content: [{ type: 'text', text: JSON.stringify(answer.value, undefined, 2) }],
    structuredContent: { ...answer.value },
  };
}

function serveResources(server: McpServer, host: RunHost, onFault: (thrown: unknown) => void): void {
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
    let read: Awaited<ReturnType<typeof found.resource.read>>;
    try {
      read = await found.resource.read(host, found.place);
    } catch (thrown) {
      onFault(thrown);
      throw refusedRead(unexpected(`reading ${found.resource.name}`));
    }
    if (!read.ok) throw refusedRead(read.error);
    return { contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(read.value) }] };
  });
}

const JSON_TYPE = 'application/json';

/** A session hears of every commit from its handshake to its end. What is sent is bounded by the transport. */
function tellNews(server: McpServer, host: RunHost): void {
  let stop: () => void = () => undefined;
  server.server.oninitialized = () => {
    stop();
    stop = host.feed.subscribe('all', notice => {
      for (const { method, params } of notificationsOf(notice)) {
        // A client that is gone hears nothing; its session ends by itself.
        void server.server.notification({ method, params: { ...params } }).catch(() => undefined);
      }
    });
  };
  server.server.onclose = () => stop();
}

function failed(error: ErrorEnvelope): CallToolResult {
  const text = `${error.code}: ${error.message}\n${error.suggestion}`;
  return { isError: true, content: [{ type: 'text', text }], structuredContent: { ...error } };
}

function refusedRead(error: ErrorEnvelope): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `${error.message} ${error.suggestion}`, error);
}

function unfit(name: string, { issues }: z.ZodError): ErrorEnvelope {
  const told = issues.slice(0, 10).map(({ path, message }) => `${path.map(String).join('.') || 'input'}: ${message}`);
  return failure('VALIDATION_ERROR', {
    message: `${name} was not called: its arguments do not fit. ${told.join('; ')}.`,
    suggestion: 'Change these arguments and call it again.',
  });
}

function unknownResource(uri: string): ErrorEnvelope {
  return failure('request/unknown-route', {
    message: `There is no resource ${uri.slice(0, 200)}.`,
    suggestion: 'List the resources and their templates.',
  });
}

/** What was thrown stays here: it may quote what nobody should read. */
function unexpected(what: string): ErrorEnvelope {
  return failure('command/unexpected', {
    message: `${what} met something that must never happen.`,
    suggestion: 'Nothing that was acknowledged is lost. See the log of the server.',
  });
}
