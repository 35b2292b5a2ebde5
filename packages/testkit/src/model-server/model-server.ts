import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json } from '@signalbox/model';
import { anthropicWire } from './anthropic-wire.ts';
import { conversationProblem, toolsProblem } from './conversation.ts';
import { googleWire } from './google-wire.ts';
import type { AnswerFault, ModelAnswer, ModelRequest, ModelScript, SaidPart } from './model-script.ts';
import { openaiChatWire } from './openai-chat-wire.ts';
import { openaiResponsesWire } from './openai-responses-wire.ts';
import type { AnswerContext, Wire, WireEvent, WireMessage, WireRequest } from './wire.ts';

/**
 * A loopback server that the vendors' own packages accept as a model. Answers are scripted once for all formats. It rejects
 * what a real server rejects, with the vendor's errors, so that a wrong request fails its test.
 */
export interface ModelServer {
  /** Without a path: the path appended by a vendor's package identifies the vendor. */
  readonly url: string;
  /** Every request so far, in order. */
  readonly requests: readonly RecordedRequest[];
  /** Resolves once a response is held back by a `stall` or a `slow-start`. */
  holding(): Promise<void>;
  /** Releases held responses. */
  release(): void;
  /** Ends the server and every connection. */
  close(): Promise<void>;
}

interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  /** Without key values. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
  /** Absent if it could not be parsed as a request. */
  readonly asked?: ModelRequest;
  /** The status of the response. */
  readonly status: number;
  readonly refusal?: string;
}

export interface ModelServerOptions {
  /** Further requests are refused, to stop an endless agent. */
  readonly maxCalls?: number;
  /** Awaited before every event of a stream. */
  readonly pace?: () => Promise<void>;
}

const wires: readonly Wire[] = [anthropicWire, openaiResponsesWire, openaiChatWire, googleWire];
const secretHeaders = /^(authorization|x-api-key|x-goog-api-key|cookie)$/;
/** No model by name: each client takes the one that it was told to use. */
const MODELS = { object: 'list', data: [], has_more: false };
const DEFAULT_USAGE = { input: 100, output: 20, cached: 0 };

export async function startModelServer(script: ModelScript, options: ModelServerOptions = {}): Promise<ModelServer> {
  const { maxCalls = 50, pace } = options;
  const requests: RecordedRequest[] = [];
  const gate = createGate();
  const server = createServer((request, response) => {
    // Tests include clients that disconnect in the middle.
    response.on('error', () => {});
    void handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    holding: gate.holding,
    release: gate.release,
    close: () =>
      new Promise(resolve => {
        gate.release();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const text = await bodyOf(request);
    const call = requests.length + 1;
    const headers = flatHeaders(request);
    const body = parsed(text);
    const record = (fields: Pick<RecordedRequest, 'status' | 'asked' | 'refusal'>) => {
      requests.push({
        method: request.method ?? '',
        path: url.pathname,
        headers: withoutSecrets(headers),
        body: body ?? null,
        ...fields,
      });
    };
    const aside = asideOf(request.method ?? '', url.pathname);
    if (aside !== undefined) {
      const { wire, answer } = aside;
      const unauthorized = wire === undefined ? keyMissing(headers) : wire.unauthorized(headers, url.searchParams);
      if (unauthorized === undefined) record({ status: 200 });
      else record({ status: 401, refusal: unauthorized });
      if (unauthorized === undefined) return sendJson(response, 200, answer);
      return sendJson(response, 401, (wire ?? openaiChatWire).refusal(401, unauthorized));
    }
    const routed = wires.flatMap(wire => {
      const route = wire.route(url.pathname);
      return route === undefined ? [] : [{ wire, route }];
    })[0];
    if (routed === undefined || request.method !== 'POST') {
      record({ status: 404, refusal: 'no such path' });
      return sendJson(response, 404, { error: { type: 'not_found_error', message: `no route ${url.pathname}` } });
    }
    const { wire, route } = routed;
    const refuse = (status: number, refusal: string, asked?: ModelRequest) => {
      record({ status, refusal, ...(asked && { asked }) });
      sendJson(response, status, wire.refusal(status, refusal));
    };
    const unauthorized = wire.unauthorized(headers, url.searchParams);
    if (unauthorized !== undefined) return refuse(401, unauthorized);
    if (body === undefined) return refuse(400, 'the body is not JSON');
    const read = wire.read(body);
    if (typeof read === 'string') return refuse(400, read);
    const problem = conversationProblem(read.messages) ?? toolsProblem(read.tools);
    if (problem !== undefined) return refuse(400, problem);
    const model = route.model || (read.model ?? '');
    const asked = requestOf(wire, read, { model, call, stream: route.stream ?? read.stream ?? false });
    if (call > maxCalls) return refuse(400, `more than ${maxCalls} calls`, asked);
    const reply = typeof script === 'function' ? script(asked) : script[scriptedSoFar(requests)];
    if (reply === undefined) return refuse(400, `the script has no reply for call ${call}`, asked);
    if ('status' in reply) {
      record({ status: reply.status, asked });
      const headers = { ...reply.headers, ...(reply.retryAfter !== undefined && { 'retry-after': reply.retryAfter }) };
      return sendJson(response, reply.status, wire.refusal(reply.status, reply.message ?? 'as scripted'), headers);
    }
    record({ status: 200, asked });
    await answer(wire, reply, asked, response);
  }

  async function answer(wire: Wire, reply: ModelAnswer, asked: ModelRequest, response: ServerResponse): Promise<void> {
    const context: AnswerContext = {
      model: asked.model,
      call: asked.call,
      usage: { ...DEFAULT_USAGE, ...reply.usage },
      tools: asked.tools,
    };
    if (reply.fault?.kind === 'slow-start') await gate.hold();
    for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value);
    if (asked.stream) return sendEvents(wire, wire.events(reply, context), reply.fault, response);
    const whole = JSON.stringify(wire.whole(reply, context));
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(whole) });
    switch (reply.fault?.kind) {
      case 'malformed':
        response.end(whole.replace('{', '['));
        return;
      case 'stall':
        response.write(whole.slice(0, whole.length / 2));
        await gate.hold();
        response.end(whole.slice(whole.length / 2));
        return;
      case 'cut':
      case 'ended':
      case 'error':
        response.write(whole.slice(0, whole.length / 2), () => response.destroy());
        return;
      default:
        response.end(whole);
    }
  }

  async function sendEvents(
    wire: Wire,
    events: readonly WireEvent[],
    fault: AnswerFault | undefined,
    response: ServerResponse,
  ): Promise<void> {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    for (const [index, event] of events.entries()) {
      await pace?.();
      if (fault !== undefined && 'after' in fault && fault.after === index) {
        switch (fault.kind) {
          case 'cut':
            response.write(': the end\n\n', () => response.destroy());
            return;
          case 'ended':
            response.end();
            return;
          case 'stall':
            await gate.hold();
            break;
          case 'error':
            response.end(encoded(wire.errorEvent(fault.message ?? 'as scripted')));
            return;
        }
      }
      response.write(fault?.kind === 'malformed' && index === 1 ? 'data: {"type": oops\n\n' : encoded(event));
    }
    response.end();
  }
}

/** Requests besides conversation turns: the list of models, and token counts. Scripts do not cover them. */
function asideOf(method: string, path: string): { readonly wire?: Wire; readonly answer: Json } | undefined {
  if (method === 'GET') return path.endsWith('/models') ? { answer: MODELS } : undefined;
  for (const wire of method === 'POST' ? wires : []) {
    const answer = wire.counted?.(path);
    if (answer !== undefined) return { wire, answer };
  }
  return undefined;
}

/** Vendors list their models at one path, so that any key lets in. */
function keyMissing(headers: Readonly<Record<string, string>>): string | undefined {
  return Object.keys(headers).some(name => secretHeaders.test(name)) ? undefined : 'a key is required';
}

function encoded({ event, data }: WireEvent): string {
  const name = event === undefined ? '' : `event: ${event}\n`;
  return `${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}

/** How many replies of a list were given: refused requests use up none. */
function scriptedSoFar(requests: readonly RecordedRequest[]): number {
  return requests.filter(request => request.asked !== undefined && request.refusal === undefined).length;
}

function requestOf(
  { vendor }: Wire,
  read: WireRequest,
  fields: Pick<ModelRequest, 'model' | 'call' | 'stream'>,
): ModelRequest {
  const { system, messages, tools, wantsJson } = read;
  const last = messages.findLastIndex(message => message.role === 'assistant');
  return {
    vendor,
    ...fields,
    system,
    prompt: messages[0]?.parts.flatMap(part => (part.kind === 'text' ? [part.text] : [])).join('\n') ?? '',
    since: messages.slice(last + 1).flatMap(message => saidParts(message, messages[last])),
    tools,
    turn: messages.filter(message => message.role === 'assistant').length + 1,
    wantsJson,
  };
}

function saidParts(message: WireMessage, before: WireMessage | undefined): readonly SaidPart[] {
  return message.parts.flatMap((part): SaidPart[] => {
    if (part.kind === 'text') return [{ kind: 'text', text: part.text }];
    if (part.kind !== 'result') return [];
    const call = before?.parts.find(one => one.kind === 'call' && one.id === part.id);
    return [{ kind: 'result', tool: call?.kind === 'call' ? call.tool : '', text: part.text }];
  });
}

function sendJson(response: ServerResponse, status: number, body: Json, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function flatHeaders(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value ?? '')]));
}

function withoutSecrets(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, secretHeaders.test(name) ? '[set]' : value]),
  );
}

/** Where responses wait until they are let go. */
function createGate() {
  const waiting: (() => void)[] = [];
  const watchers: (() => void)[] = [];
  return {
    hold: () =>
      new Promise<void>(resolve => {
        waiting.push(resolve);
        for (const watcher of watchers.splice(0)) watcher();
      }),
    holding: () => (waiting.length > 0 ? Promise.resolve() : new Promise<void>(resolve => watchers.push(resolve))),
    release() {
      for (const resolve of waiting.splice(0)) resolve();
    },
  };
}
