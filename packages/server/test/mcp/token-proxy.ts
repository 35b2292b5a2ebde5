import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TokenProxy {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Forwards to a server what a client that knows no token sends, with the token. What the client says of host and origin is
 * kept, and its name for the proxy becomes the server's name for itself: the server judges them.
 */
export async function tokenProxy(target: URL, token: string): Promise<TokenProxy> {
  const server = createServer((incoming, answer) => {
    const named = (value: string | undefined) => value?.replace(`:${port}`, `:${target.port}`);
    const { host, origin } = incoming.headers;
    const headers = {
      ...incoming.headers,
      host: named(host),
      ...(origin !== undefined && { origin: named(origin) }),
      authorization: `Bearer ${token}`,
    };
    const outgoing = forward(
      { host: target.hostname, port: target.port, path: incoming.url, method: incoming.method, headers },
      given => {
        answer.writeHead(given.statusCode ?? 502, given.headers);
        answer.flushHeaders();
        given.pipe(answer);
      },
    );
    outgoing.on('error', () => answer.destroy());
    answer.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}`,
    async close() {
      const closed = new Promise<void>(resolve => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
