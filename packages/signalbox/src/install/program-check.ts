import { spawn } from 'node:child_process';
import type { McpTarget } from './mcp-clients.ts';

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'signalbox-install', version: '1' } },
};

/** How long a program may take to answer the handshake. */
const ANSWER_MS = 60_000;

/** Why a client could not use the target; undefined if the handshake of MCP is answered. */
export async function targetFault(target: McpTarget, token: string | undefined): Promise<string | undefined> {
  return target.kind === 'stdio' ? programFault(target.command, target.args) : serverFault(target.url, token);
}

function programFault(command: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise(resolve => {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    let answer = '';
    let complaint = '';
    const timer = setTimeout(() => child.kill(), ANSWER_MS);
    const settle = (fault: string | undefined) => {
      clearTimeout(timer);
      child.stdin.end();
      child.kill();
      resolve(fault);
    };
    child.on('error', ({ message }) => settle(message));
    child.on('exit', code => settle(`it ended with ${code ?? 'a signal'}. ${complaint.trim().slice(0, 500)}`));
    child.stdin.on('error', () => undefined);
    child.stderr.on('data', (chunk: Buffer) => {
      complaint += chunk.toString('utf8');
    });
    child.stdout.on('data', (chunk: Buffer) => {
      answer += chunk.toString('utf8');
      if (answer.includes('\n')) settle(answer.includes('"serverInfo"') ? undefined : 'it does not answer as MCP does');
    });
    child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
  });
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
