import { PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import type { ErrorEnvelope } from '@signalbox/model';
import * as z from 'zod';

/** What must be known of a message to hand it on; what else is in it is the server's to judge. */
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
  /** Of a request. */
  readonly id?: BridgeId | undefined;
  readonly method?: string | undefined;
  readonly params?: z.infer<typeof message>['params'];
  /** The revision that the message names itself: one of 2026-07-28 does, one of 2025-11-25 does not. */
  readonly revision?: string | undefined;
}

/** Undefined for what is no message; the server says so. */
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

/** The headers that a request of 2026-07-28 says once more what it is with. */
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

/** A value that a header cannot carry as it is travels in another form. */
function encoded(value: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !value.startsWith('=?base64?');
  return isPlain ? value : `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`;
}

/** What a client is answered where the server could not. */
export function refusedLine(id: BridgeId | undefined, error: ErrorEnvelope): string {
  return JSON.stringify({
    jsonrpc: '2.0',
    id: id ?? null,
    error: { code: -32_000, message: error.message, data: error },
  });
}
