import type { RunId, ServerMessage, WireStoredEvent } from '@signalbox/model';
import { WebSocket } from 'ws';

/** Everything that one client received about a run. */
export interface Heard {
  readonly events: WireStoredEvent[];
  /** The output of each task. */
  readonly said: Map<string, string>;
  dropped: number;
  /** The status that it was told last. */
  status: string;
}

export interface Subscriber {
  readonly heard: ReadonlyMap<RunId, Heard>;
  readonly messages: number;
  /** From the first event of the run on. */
  watch(run: RunId): void;
  /** Resolves when `isSo` holds, and rejects when the connection ends before. */
  until(isSo: () => boolean): Promise<void>;
  close(): void;
}

/** A client that keeps everything it is told. */
export async function subscriber(url: string, token: string): Promise<Subscriber> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/api/ws`);
  const heard = new Map<RunId, Heard>();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  ended.catch(() => undefined);
  socket.on('error', reject);
  socket.on('close', code => reject(new Error(`the server ended the connection: ${code}`)));
  const { promise: welcomed, resolve: welcome } = Promise.withResolvers<void>();
  let messages = 0;
  let look: () => void = () => undefined;

  socket.on('open', () => socket.send(JSON.stringify({ kind: 'hello', token })));
  socket.on('message', data => {
    messages += 1;
    take(JSON.parse(data.toString()) as ServerMessage);
    look();
  });

  function take(message: ServerMessage): void {
    if (message.kind === 'welcome') welcome();
    if (message.kind === 'refused') reject(new Error(message.error.message));
    const run = 'run' in message ? message.run : undefined;
    const of = run === undefined || run === 'all' || run === 'fleet' ? undefined : heard.get(run);
    if (of === undefined) return;
    switch (message.kind) {
      case 'state':
        of.status = message.snapshot.record.status;
        break;
      case 'run':
        of.status = message.summary.record.status;
        break;
      case 'event':
        of.events.push(message.stored);
        break;
      case 'stream':
        of.dropped += message.dropped;
        for (const { kind, payload } of message.chunks) {
          if (kind === 'token') of.said.set(message.task, (of.said.get(message.task) ?? '') + String(payload));
        }
        break;
    }
  }

  await Promise.race([welcomed, ended]);
  return {
    heard,
    get messages() {
      return messages;
    },
    watch(run) {
      heard.set(run, { events: [], said: new Map(), dropped: 0, status: '' });
      socket.send(JSON.stringify({ kind: 'subscribe', run, from: 0, view: 'stored' }));
    },
    until(isSo) {
      const met = new Promise<void>(resolve => {
        look = () => {
          if (isSo()) resolve();
        };
        look();
      });
      return Promise.race([met, ended]);
    },
    close: () => socket.terminate(),
  };
}
