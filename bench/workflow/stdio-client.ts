import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface ToolAnswer {
  readonly isError?: boolean;
  readonly content: readonly [{ readonly text: string }];
  readonly structuredContent: Record<string, unknown>;
}

export interface StdioClient {
  /** The tools as the server lists them. */
  tools(): Promise<unknown>;
  call(tool: string, args: object): Promise<ToolAnswer>;
  /** Closes the standard input of the server and waits until it has ended. */
  close(): Promise<void>;
}

/** The least that an MCP client can do, so that what is measured is the server: one line out, one line back. */
export async function stdioClient(args: readonly string[], env: NodeJS.ProcessEnv, cwd: string): Promise<StdioClient> {
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let count = 0;
  createInterface({ input: child.stdout }).on('line', line => {
    const { id, result, error } = JSON.parse(line);
    const asked = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) asked?.resolve(result);
    else asked?.reject(new Error(error.message));
  });
  const ended = new Promise<void>(resolve => child.once('close', () => resolve()));
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = (method: string, params: object): Promise<unknown> => {
    const asked = Promise.withResolvers<unknown>();
    waiting.set(count, asked);
    send({ id: count++, method, params });
    return asked.promise;
  };

  const clientInfo = { name: 'bench', version: '1' };
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  send({ method: 'notifications/initialized' });
  return {
    tools: () => ask('tools/list', {}),
    call: (name, given) => ask('tools/call', { name, arguments: given }) as Promise<ToolAnswer>,
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}
