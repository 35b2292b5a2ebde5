import type { CallToolResult, Tool as ServerTool } from '@modelcontextprotocol/client';
import { type Json, type JsonObject, json } from '@signalbox/model';
import { type AnyTool, fail, succeed, type ToolEffects, type ToolReply, type ToolRisk } from '@signalbox/state';
import * as z from 'zod';

interface ToolOfServer {
  /** As the agent calls it. */
  readonly name: string;
  readonly offered: ServerTool;
  /** Whether it runs here, in the agent's directory, where its changes of files are undone. */
  readonly isLocal: boolean;
  /** For people. */
  readonly server: string;
  readonly clean: (text: string) => string;
  call(input: JsonObject, signal: AbortSignal): Promise<CallToolResult>;
}

const DESCRIPTION = 2000;
const ANSWER = 64 << 10;

export function mcpTool({ name, offered, isLocal, server, clean, call }: ToolOfServer): AnyTool {
  const { annotations = {} } = offered;
  return {
    name,
    description: clean(`${(offered.description ?? '').slice(0, DESCRIPTION)} (from ${server})`.trim()),
    inputSchema: JSON.parse(clean(JSON.stringify(offered.inputSchema))) as JsonObject,
    input: inputOf(offered.inputSchema as JsonObject),
    output: z.unknown(),
    risk: riskOf(annotations),
    effects: effectsOf(annotations, isLocal),
    handler: async (input, { signal, cut }) =>
      replyOf(await call(input as JsonObject, signal), text => cut(text, ANSWER)),
  };
}

type Annotations = NonNullable<ServerTool['annotations']>;

/** What a server does not say counts as the worst: the protocol's own defaults are that a tool destroys and is open to the world. */
function riskOf({ readOnlyHint, destructiveHint }: Annotations): ToolRisk {
  if (readOnlyHint === true) return 'low';
  return destructiveHint === false ? 'medium' : 'high';
}

/**
 * A server here is confined to the agent's directory, but has a network: what it changes there is undone, whatever it says of itself, and
 * what it does elsewhere is not. Of a server elsewhere nothing can be undone.
 */
function effectsOf({ readOnlyHint, openWorldHint }: Annotations, isLocal: boolean): ToolEffects<unknown> {
  if (!isLocal) return readOnlyHint === true ? { kind: 'none' } : { kind: 'external' };
  return readOnlyHint === true || openWorldHint === false ? { kind: 'files' } : { kind: 'files', beyond: true };
}

function inputOf(schema: JsonObject): z.ZodType {
  try {
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    return z.record(z.string(), json);
  }
}

function replyOf(
  { content = [], structuredContent, isError }: CallToolResult,
  cut: (text: string) => string,
): ToolReply<Json> {
  const parts = content.map(part => {
    if (part.type === 'text') return part.text;
    if (part.type === 'resource' && 'text' in part.resource) return part.resource.text;
    return part.type === 'resource_link' ? part.uri : `[${part.type} left out]`;
  });
  const whole =
    parts.length === 0 && structuredContent !== undefined ? JSON.stringify(structuredContent) : parts.join('\n');
  const text = cut(whole.toWellFormed());
  if (isError === true) return fail(text === '' ? 'the server says that it failed' : text);
  return succeed(text.length < whole.length ? { text, truncated: true } : text);
}
