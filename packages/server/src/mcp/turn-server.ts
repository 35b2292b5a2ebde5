import { createHash, randomBytes } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { type CallToolResult, McpServer } from '@modelcontextprotocol/server';
import { decisionRequest, type Machine, type TurnOffer, type TurnSurface, type TurnTools } from '@signalbox/app/host';
import { type ErrorEnvelope, failure } from '@signalbox/model';
import manifest from '../../package.json' with { type: 'json' };
import { bearerOf } from '../access/access.ts';
import { inputFault } from './input-fault.ts';
import { type McpHttp, mcpHttp } from './mcp-http.ts';
import { inputJsonSchema, shownSchema } from './tool-schema.ts';

export interface TurnServerOptions {
  readonly timers: Machine['timers'];
  /** Called with whatever was thrown while a call was answered. */
  readonly onFault?: ((thrown: unknown) => void) | undefined;
}

export interface TurnServer extends TurnSurface {
  close(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';
const PLACE = '/mcp/turn';

/**
 * The third MCP surface: what agents that we started may ask for while they work (R9).
 *
 * 1. It listens from the first offer on, on loopback and a port of its own: nothing else can be reached there.
 * 2. A token opens the tools of one attempt, and nothing once that attempt has withdrawn its offer. Only its digest is kept.
 * 3. Agents are programs: a request that a web page sends is refused.
 */
export function createTurnServer({ timers, onFault = () => undefined }: TurnServerOptions): TurnServer {
  const offers = new Map<string, Offered>();
  let listening: Promise<Server> | undefined;

  const answer = async (request: Request, response: ServerResponse, port: number): Promise<Response> => {
    if (request.headers.get('host') !== `${LOOPBACK}:${port}` || request.headers.has('origin')) {
      return refused(403, 'This address is for agents that Signalbox started, on this machine.');
    }
    if (new URL(request.url).pathname !== PLACE) return refused(404, `Only ${PLACE} is served here.`);
    const token = bearerOf(request.headers.get('authorization') ?? undefined);
    const offered = token === undefined ? undefined : offers.get(digestOf(token));
    if (offered === undefined) return refused(401, 'The token is missing or wrong, or its attempt has ended.');
    offered.pending.add(response);
    response.once('close', () => offered.pending.delete(response));
    return offered.surface.route(request);
  };

  async function listen(): Promise<Server> {
    let port = 0;
    const server = createServer(
      getRequestListener((request, { outgoing }) => answer(request, outgoing as ServerResponse, port), {
        overrideGlobalObjects: false,
      }),
    );
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, LOOPBACK, resolve);
    });
    port = (server.address() as AddressInfo).port;
    // Waiting for agents is no reason to stay alive.
    server.unref();
    return server;
  }

  return {
    async offer(tools): Promise<TurnOffer> {
      listening ??= listen();
      const { port } = (await listening).address() as AddressInfo;
      const token = randomBytes(32).toString('base64url');
      const key = digestOf(token);
      let wasListed = false;
      const onRequest = (body: unknown) => {
        wasListed ||= lists(body);
      };
      const offered: Offered = {
        surface: mcpHttp(() => turnMcp(tools, onFault), { timers, onFault, onRequest }),
        pending: new Set(),
      };
      offers.set(key, offered);
      return {
        url: `http://${LOOPBACK}:${port}${PLACE}`,
        token,
        wasListed: () => wasListed,
        async withdraw() {
          offers.delete(key);
          for (const response of offered.pending) response.destroy();
          await offered.surface.close();
        },
      };
    },
    async close() {
      for (const { surface } of offers.values()) await surface.close();
      offers.clear();
      const server = await listening?.catch(() => undefined);
      server?.closeAllConnections();
      if (server !== undefined) await new Promise<void>(resolve => server.close(() => resolve()));
    },
  };
}

/** The tools of one attempt, and the responses that are not complete. */
interface Offered {
  readonly surface: McpHttp;
  readonly pending: Set<ServerResponse>;
}

/** Whether a client asks which tools there are. */
function lists(body: unknown): boolean {
  return [body].flat().some(one => (one as { readonly method?: unknown } | null)?.method === 'tools/list');
}

const TEMPLATE = {
  question: '<your question>',
  options: [
    { id: '<a>', label: '<the first choice>' },
    { id: '<b>', label: '<the second choice>' },
  ],
};
const TOOL = 'request_decision';
const shown = shownSchema(() => inputJsonSchema(decisionRequest));

function turnMcp(tools: TurnTools, onFault: (thrown: unknown) => void): McpServer {
  const server = new McpServer(
    { name: 'signalbox', title: 'Signalbox', version: manifest.version },
    { instructions: `Call ${TOOL} when only a person can decide how to continue.`, capabilities: { tools: {} } },
  );
  server.registerTool(
    TOOL,
    {
      title: 'Ask a person',
      description: `Asks the person who supervises you one question, and returns the answer.
Use it for choices that you should not make alone: scope, taste, money, anything hard to undo.
If nobody answers in time, the result says so: then end your turn at once. The answer begins your next turn.`,
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      inputSchema: shown,
    },
    async given => {
      const request = decisionRequest.safeParse(given ?? {});
      if (!request.success) return told(inputFault({ name: TOOL, template: TEMPLATE }, request.error));
      try {
        const reply = await tools.requestDecision(request.data);
        if (reply.kind === 'asked') return said(`The person was asked and has not answered yet. ${STOP}`);
        return said(`The person answered: ${reply.answer}${reply.rationale === '' ? '' : `\n${reply.rationale}`}`);
      } catch (thrown) {
        onFault(thrown);
        return told(unexpected());
      }
    },
  );
  return server;
}

const STOP = 'Stop here: end your turn now without doing more. The answer begins your next turn.';

function said(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}

function told(error: ErrorEnvelope): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: `${error.message} ${error.suggestion}` }] };
}

function unexpected(): ErrorEnvelope<'command/unexpected'> {
  return failure('command/unexpected', {
    message: 'The question could not be asked.',
    suggestion: 'Continue without an answer, and say in your final message what you would have asked.',
  });
}

function refused(status: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }, { status });
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
