import type { ClientMessage, Json, ServerMessage } from '@signalbox/model';
import { WebSocket } from 'ws';

/** A client that speaks the protocol word by word. */
export interface LiveClient {
  readonly socket: WebSocket;
  /** Everything that was received, oldest first. */
  readonly received: readonly ServerMessage[];
  say(message: ClientMessage | Json): void;
  /** The first message, received already or not, that fits. */
  first<Kind extends ServerMessage['kind']>(
    kind: Kind,
    fits?: (message: Extract<ServerMessage, { readonly kind: Kind }>) => boolean,
  ): Promise<Extract<ServerMessage, { readonly kind: Kind }>>;
  /** Resolves when `isSo` holds for what was received. */
  until(isSo: (received: readonly ServerMessage[]) => boolean): Promise<void>;
  /** The code that the connection ended with. */
  readonly closed: Promise<number>;
  close(): void;
}

export async function liveClient(
  url: string,
  { headers = {}, token }: { readonly headers?: Record<string, string>; readonly token?: string } = {},
): Promise<LiveClient> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/api/ws`, { headers });
  const received: ServerMessage[] = [];
  const waiting = new Set<() => void>();
  socket.on('message', data => {
    received.push(JSON.parse(data.toString()) as ServerMessage);
    for (const look of [...waiting]) look();
  });
  const closed = new Promise<number>(resolve => socket.on('close', resolve));
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  const until: LiveClient['until'] = isSo =>
    new Promise(resolve => {
      const look = () => {
        if (!isSo(received)) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  const client: LiveClient = {
    socket,
    received,
    say: message => socket.send(JSON.stringify(message)),
    until,
    async first(kind, fits = () => true) {
      const found = () => received.find(message => message.kind === kind && fits(message as never)) as never;
      await until(() => found() !== undefined);
      return found();
    },
    closed,
    close: () => socket.close(),
  };
  if (token !== undefined) {
    client.say({ kind: 'hello', token });
    await client.first('welcome');
  }
  return client;
}
