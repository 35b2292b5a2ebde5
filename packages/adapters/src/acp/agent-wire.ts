import type { AnyMessage, Stream } from '@agentclientprotocol/sdk';
import type { TaskError } from '@signalbox/runs';
import { taskFailure } from '../attempt/task-failure.ts';
import type { AgentProcess } from './agent-process.ts';

/** The longest line that an agent may send. */
const MAX_LINE_BYTES = 10_000_000;

/** Requests that open a session. */
const SESSION_REQUESTS = ['session/new', 'session/load', 'session/resume'] as const;
type SessionRequest = (typeof SESSION_REQUESTS)[number];

/** Sees what an agent sends, in the order in which it is sent. */
export interface WireListener {
  /** The next message is read after it settles. */
  updated(params: unknown): Promise<void> | undefined;
  /** The agent answered a request for a session. Called before any later update. */
  opened(method: SessionRequest, answer: unknown): void;
  /** Something arrived that nobody waits for. */
  ignored(what: string): void;
  /** The agent broke the protocol: nothing more is read. */
  broke(error: TaskError): void;
}

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
}

/**
 * An agent's pipes as a stream of messages.
 *
 * 1. A line is bounded, and the next one is read only when the last was dealt with: memory stays bounded whatever the agent sends.
 * 2. Updates are seen here, in order, so that all of them are known when the answer to a prompt is.
 * 3. An answer reaches the connection only if its request is open.
 */
export function openWire(
  { stdin, stdout }: Pick<AgentProcess, 'stdin' | 'stdout'>,
  agent: string,
  listener: WireListener,
): Stream {
  /** Open requests of ours, and their methods. */
  const open = new Map<unknown, unknown>();

  async function* messages(): AsyncGenerator<AnyMessage> {
    try {
      for await (const line of lines(stdout)) {
        if (line.trim() === '') continue;
        const message = parsed(line);
        if (message.method === 'session/update' && message.id === undefined) {
          await listener.updated(message.params);
        } else if (message.method !== undefined) {
          yield message as AnyMessage;
        } else if (open.has(message.id)) {
          const method = SESSION_REQUESTS.find(one => one === open.get(message.id));
          if (method !== undefined) listener.opened(method, message.result);
          open.delete(message.id);
          yield message as AnyMessage;
        } else listener.ignored('an answer to a request that was not open');
      }
    } catch (thrown) {
      if (!(thrown instanceof ProtocolFault)) throw thrown;
      listener.broke(taskFailure(thrown.code, `${agent} ${thrown.message}`));
      throw thrown;
    }
  }

  // Whoever writes to an agent that is gone learns it from the connection.
  stdin.on('error', () => {});
  return {
    readable: ReadableStream.from(messages()) as ReadableStream<AnyMessage>,
    writable: new WritableStream<AnyMessage>({
      write(message) {
        if ('method' in message && 'id' in message) open.set(message.id, message.method);
        return new Promise((resolve, reject) => {
          stdin.write(`${JSON.stringify(message)}\n`, failure => (failure ? reject(failure) : resolve()));
        });
      },
    }),
  };
}

class ProtocolFault extends Error {
  override readonly name = 'ProtocolFault';
  readonly code: 'agent-malformed' | 'agent-line-too-long';
  constructor(code: ProtocolFault['code'], message: string) {
    super(message);
    this.code = code;
  }
}

async function* lines(stdout: AsyncIterable<Buffer | string>): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let size = 0;
  const add = (part: Buffer) => {
    size += part.length;
    if (size > MAX_LINE_BYTES) {
      const message = `sent a line of more than ${MAX_LINE_BYTES} bytes, which is not read further.`;
      throw new ProtocolFault('agent-line-too-long', message);
    }
    parts.push(part);
  };
  for await (const read of stdout) {
    const chunk = typeof read === 'string' ? Buffer.from(read) : read;
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      add(chunk.subarray(from, at));
      yield Buffer.concat(parts).toString('utf8');
      parts = [];
      size = 0;
      from = at + 1;
    }
    // A copy: a short rest would keep the whole chunk.
    if (from < chunk.length) add(Buffer.from(chunk.subarray(from)));
  }
}

const SHOWN = 200;

function parsed(line: string): Message {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    value = undefined;
  }
  if (typeof value === 'object' && value !== null && (value as { jsonrpc?: unknown }).jsonrpc === '2.0') return value;
  throw new ProtocolFault('agent-malformed', `sent a line that is not an ACP message: ${line.slice(0, SHOWN)}`);
}
