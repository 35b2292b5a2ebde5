import { programFault } from '@signalbox/app/guided';
import type { McpTarget } from './mcp-clients.ts';

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'signalbox-install', version: '1' } },
};

/** Why a client could not use the target; undefined if the handshake of MCP is answered. */
export async function targetFault(target: McpTarget, token: string | undefined): Promise<string | undefined> {
  return target.kind === 'stdio'
    ? programFault([target.command, ...target.args], INITIALIZE)
    : serverFault(target.url, token);
}

async function serverFault(url: string, token: string | undefined): Promise<string | undefined> {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  try {
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(INITIALIZE) });
    return response.ok ? undefined : `it answers ${response.status}`;
  } catch (thrown) {
    return thrown instanceof Error ? String(thrown.cause ?? thrown.message) : 'it cannot be reached';
  }
}
