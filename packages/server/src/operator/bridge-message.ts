import { PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import type { ErrorEnvelope } from '@signalbox/model';
import * as z from 'zod';

/** The parts of a message needed to forward it; the server validates the rest. */
const message = z.object({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z
    .object({
      _meta: z.record(z.string(), z.unknown()).optional(),
      requestId: z.union([z.string(), z.number()]).optional(),
    })
    .loose()
    .optional(),
});

export type BridgeId = string | number;

export interface BridgeMessage {
  /** Set for requests. */
  readonly id?: BridgeId | undefined;
  readonly method?: string | undefined;
  readonly params?: z.infer<typeof message>['params'];
  /** The revision named in the message: 2026-07-28 names it, 2025-11-25 does not. */
  readonly revision?: string | undefined;
}

/** Undefined if it is not a message; the server reports that. */
export function bridgeMessage(line: string): BridgeMessage | undefined {
  let given: unknown;
  try {
    given = JSON.parse(line);
  } catch {
    return undefined;
  }
  const parsed = message.safeParse(given);
  if (!parsed.success) return undefined;
  const { id, method, params } = parsed.data;
  const revision = params?._meta?.[PROTOCOL_VERSION_META_KEY];
  return {
    ...(method !== undefined && { id }),
    method,
    params,
    ...(typeof revision === 'string' && { revision }),
  };
}

/** The headers in which a request of 2026-07-28 repeats its method and name. */
export function modernHeaders({ method, params, revision }: BridgeMessage): Record<string, string> {
  if (revision === undefined || method === undefined) return {};
  const field = NAMED_BY[method];
  const name = field === undefined ? undefined : params?.[field];
  return {
    'mcp-protocol-version': encoded(revision),
    'mcp-method': encoded(method),
    ...(typeof name === 'string' && { 'mcp-name': encoded(name) }),
  };
}

const NAMED_BY: Readonly<Partial<Record<string, string>>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

/** Encodes a value that a header cannot carry. */
function encoded(value: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !value.startsWith('=?base64?');
  return isPlain ? value : `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`;
}

/** The answer to a client if the server gave none. */
export function refusedLine(id: BridgeId | undefined, error: ErrorEnvelope): string {
  return JSON.stringify({
    jsonrpc: '2.0',
    id: id ?? null,
    error: { code: -32_000, message: error.message, data: error },
  });
}
