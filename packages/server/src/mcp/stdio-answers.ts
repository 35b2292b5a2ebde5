import { Transform, type Writable } from 'node:stream';
import { isJsonObject, type Json, parsedJson } from '@signalbox/model';

/**
 * Holds the end of a client's messages back until the calls that it sent are answered: a client that writes its calls and closes its end
 * gets every answer. Streams that stay open by design are not waited for.
 */
export function heldUntilAnswered(output: Writable): { readonly messages: Transform; readonly output: Writable } {
  const open = new Set<Json>();
  let ended: (() => void) | undefined;
  let endsInLine = true;

  function sent(line: string): void {
    const message = parsedJson(line) as Json | undefined;
    if (!isJsonObject(message) || typeof message.method !== 'string') return;
    if (message.id !== undefined && !message.method.startsWith('subscriptions/')) open.add(message.id);
    const cancelled = isJsonObject(message.params) ? message.params.requestId : undefined;
    if (message.method === 'notifications/cancelled' && cancelled !== undefined) answered(cancelled);
  }

  function answered(id: Json): void {
    open.delete(id);
    if (open.size === 0) ended?.();
  }

  const messages = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (const line of chunk.toString('utf8').split('\n')) if (line.trim() !== '') sent(line);
      endsInLine = chunk.at(-1) === NEWLINE;
      done(null, chunk);
    },
    flush(done) {
      // A last message without its newline is a message too.
      if (!endsInLine) this.push('\n');
      if (open.size === 0) done();
      else ended = done;
    },
  });

  const watched = new Proxy(output, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== 'function') return value;
      if (key !== 'write') return value.bind(target);
      return (chunk: unknown, ...rest: readonly unknown[]) => {
        const written: unknown = value.call(target, chunk, ...rest);
        const message = typeof chunk === 'string' ? (parsedJson(chunk) as Json | undefined) : undefined;
        if (isJsonObject(message) && message.method === undefined && message.id !== undefined) {
          // After the write is queued: the end of the messages closes the transport.
          setImmediate(answered, message.id);
        }
        return written;
      };
    },
  });
  return { messages, output: watched };
}

const NEWLINE = 0x0a;
