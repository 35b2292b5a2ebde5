import type { MessagePort, Worker } from 'node:worker_threads';
import { thrownMessage, thrownText } from '@signalbox/model';

/** Functions that the other side of a port may call, with plain data. */
export type Calls = object;

type Function_ = (...args: never[]) => unknown;
type Parameters_<Api, Name extends keyof Api> = Api[Name] extends Function_ ? Parameters<Api[Name]> : never;
type Answer<Api, Name extends keyof Api> = Api[Name] extends Function_ ? Awaited<ReturnType<Api[Name]>> : never;

/** The other side, as functions. */
export interface Remote<Api extends Calls> {
  call<Name extends keyof Api & string>(name: Name, ...args: Parameters_<Api, Name>): Promise<Answer<Api, Name>>;
  /** Without an answer. */
  tell<Name extends keyof Api & string>(name: Name, ...args: Parameters_<Api, Name>): void;
  /** The other side is gone: rejects all waiting calls. */
  close(): void;
}

/** Rejects a call whose answer can no longer come. */
export class PortClosedError extends Error {
  override readonly name = 'PortClosedError';
}

type Message =
  | { readonly kind: 'call'; readonly id: number; readonly name: string; readonly args: readonly unknown[] }
  | { readonly kind: 'tell'; readonly name: string; readonly args: readonly unknown[] }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'threw'; readonly id: number; readonly error: unknown };

/**
 * Connects two threads: each calls the other's functions and gets their answers. Invalid messages, and exceptions of functions without an
 * answer, are dropped: they must not end this side.
 */
export function connectPort<Api extends Calls>(port: MessagePort | Worker, local: Calls): Remote<Api> {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>();
  const functions = local as Readonly<Record<string, (...args: readonly unknown[]) => unknown>>;
  let calls = 0;
  let closed = false;
  const send = (message: Message) => port.postMessage(message);

  async function answer(id: number, name: string, args: readonly unknown[]): Promise<void> {
    try {
      send({
        kind: 'answer',
        id,
        value: await (Object.hasOwn(functions, name) ? functions[name]?.(...args) : undefined),
      });
    } catch (error) {
      try {
        send({ kind: 'threw', id, error: error instanceof Error ? error : new Error(thrownMessage(error)) });
      } catch {
        // Anything that cannot be copied to the other side, such as a function as its cause, is sent as text.
        send({ kind: 'threw', id, error: new Error(thrownText(error)) });
      }
    }
  }

  port.on('message', (message: Message) => {
    try {
      take(message);
    } catch {
      // Nobody waits for it.
    }
  });

  function take(message: Message): void {
    switch (message.kind) {
      case 'call':
        void answer(message.id, message.name, message.args);
        return;
      case 'tell':
        if (Object.hasOwn(functions, message.name)) functions[message.name]?.(...message.args);
        return;
      case 'answer':
        waiting.get(message.id)?.resolve(message.value);
        waiting.delete(message.id);
        return;
      case 'threw':
        waiting.get(message.id)?.reject(message.error);
        waiting.delete(message.id);
    }
  }

  return {
    call: (name, ...args) =>
      new Promise<never>((resolve, reject) => {
        if (closed) return reject(new PortClosedError(`${name} was not asked: the other side is gone`));
        calls += 1;
        waiting.set(calls, { resolve: resolve as (value: unknown) => void, reject });
        send({ kind: 'call', id: calls, name, args });
      }),
    tell(name, ...args) {
      if (!closed) send({ kind: 'tell', name, args });
    },
    close() {
      closed = true;
      for (const { reject } of waiting.values()) reject(new PortClosedError('the other side is gone'));
      waiting.clear();
    },
  };
}
