import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { FleetDesk } from '@signalbox/app/fleet';
import type { RunHost } from '@signalbox/app/host';
import { startServer } from '@signalbox/server';
import { TOKEN } from '../http-asker.ts';
import { type ManualTimers, manualTimers } from '../manual-timers.ts';

export type Mode = 'legacy' | 'auto';

export interface Told {
  readonly method: string;
  readonly params: { readonly execution_id?: string; readonly uri?: string } & Readonly<Record<string, unknown>>;
}

export interface OperatorStage {
  readonly url: string;
  readonly timers: ManualTimers;
  readonly faults: readonly unknown[];
  connect(mode: Mode, options?: ClientOptions): Promise<Client>;
  /** A request of a client that speaks 2025-11-25, byte for byte as given. */
  ask(
    method: string,
    options?: { readonly headers?: Record<string, string>; readonly body?: string },
  ): Promise<Response>;
  /** A session of 2025-11-25 whose handshake is done. */
  begin(): Promise<string>;
  /** The stream of a session. */
  listen(session: string, lastEventId?: string): Promise<NewsStream>;
  close(): Promise<void>;
}

interface NewsStream {
  readonly status: number;
  /** The next event that has come or comes. */
  next(): Promise<{ readonly id: string; readonly told: Told }>;
  close(): Promise<void>;
  readonly text: () => Promise<string>;
}

/** The operator's surface on the real server, over runs of a test. */
export async function operatorStage(host: RunHost, fleet?: FleetDesk): Promise<OperatorStage> {
  const timers = manualTimers();
  const faults: unknown[] = [];
  const started = await startServer({
    host,
    fleet,
    token: TOKEN,
    port: 0,
    timers: timers.timers,
    onFault: thrown => faults.push(thrown),
  });
  if (!started.ok) throw new Error(started.error.message);
  const { url } = started.value;
  const endpoint = new URL('/mcp', url);
  const authorization = `Bearer ${TOKEN}`;

  const ask: OperatorStage['ask'] = (method, { headers = {}, body } = {}) =>
    fetch(endpoint, {
      method,
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-protocol-version': '2025-11-25',
        authorization,
        ...headers,
      },
      ...(body !== undefined && { body }),
    });
  const message = (of: object) => JSON.stringify({ jsonrpc: '2.0', ...of });

  return {
    url,
    timers,
    faults,
    ask,
    async connect(mode, options = {}) {
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode }, ...options });
      await client.connect(
        new StreamableHTTPClientTransport(endpoint, { requestInit: { headers: { authorization } } }),
      );
      return client;
    },
    async begin() {
      const clientInfo = { name: 'test', version: '1' };
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
      const begun = await ask('POST', { body: message({ id: 1, method: 'initialize', params }) });
      await begun.text();
      const session = begun.headers.get('mcp-session-id') ?? '';
      const headers = { 'mcp-session-id': session };
      await (await ask('POST', { headers, body: message({ method: 'notifications/initialized' }) })).text();
      return session;
    },
    async listen(session, lastEventId) {
      const headers = { 'mcp-session-id': session, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) };
      return newsStream(await ask('GET', { headers }));
    },
    close: () => started.value.close(),
  };
}

function newsStream(response: Response): NewsStream {
  let text = '';
  let reader: ReadableStreamDefaultReader<string> | undefined;
  return {
    status: response.status,
    text: () => response.text(),
    async next() {
      reader ??= response.body?.pipeThrough(new TextDecoderStream()).getReader();
      while (!text.includes('\n\n')) {
        const read = await reader?.read();
        if (read === undefined || read.done) throw new Error('the stream has ended');
        text += read.value;
      }
      const [event = '', ...rest] = text.split('\n\n');
      text = rest.join('\n\n');
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(event)?.[1] ?? '';
      return { id: field('id'), told: JSON.parse(field('data')) as Told };
    },
    close: async () => (reader === undefined ? response.body?.cancel() : reader.cancel()),
  };
}
