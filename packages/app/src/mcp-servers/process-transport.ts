import { type JSONRPCMessage, serializeMessage, type Transport } from '@modelcontextprotocol/client';
import { thrownMessage } from '@signalbox/model';
import type { InteractiveProcess } from '@signalbox/state';

/** What a server may send. */
interface MessageLimits {
  readonly messageBytes: number;
  /** Messages between two of ours. */
  readonly messages: number;
}

/** Messages as lines over the standard streams of a confined program. A program that sends too much is ended, and `fault` says so. */
export function processTransport(
  program: InteractiveProcess,
  { messageBytes, messages }: MessageLimits,
): Transport & { readonly fault: () => string | undefined } {
  let chunks: Buffer[] = [];
  let said = Buffer.alloc(0);
  let waiting = 0;
  let unasked = 0;
  let fault: string | undefined;
  let isOver = false;
  const transport: Transport & { readonly fault: () => string | undefined } = {
    fault: () => fault,
    async start() {
      program.stderr.on('data', (chunk: Buffer) => {
        said = Buffer.concat([said, chunk]).subarray(-SAID_BYTES);
      });
      program.stdout.on('data', take);
      void program.ended.then(() => over(`it ended${lastLine(said)}`));
    },
    async send(message: JSONRPCMessage) {
      unasked = 0;
      if (!isOver) program.stdin.write(serializeMessage(message));
    },
    async close() {
      over('it was closed');
      program.stdin.end();
      program.stop();
    },
  };
  return transport;

  function over(why: string): void {
    if (isOver) return;
    isOver = true;
    fault ??= why;
    transport.onclose?.();
  }

  function refuse(why: string): void {
    fault ??= why;
    program.stop();
    over(why);
  }

  function take(chunk: Buffer): void {
    let rest = chunk;
    while (!isOver) {
      const end = rest.indexOf(10);
      if (waiting + (end < 0 ? rest.length : end) > messageBytes)
        refuse(`it sent a message of more than ${messageBytes} bytes`);
      if (end < 0 || isOver) break;
      const line = Buffer.concat([...chunks, rest.subarray(0, end)]).toString('utf8');
      chunks = [];
      waiting = 0;
      rest = rest.subarray(end + 1);
      unasked += 1;
      if (unasked > messages) refuse(`it sent more than ${messages} messages that nobody asked for`);
      else if (line.trim() !== '') deliver(line);
    }
    if (isOver || rest.length === 0) return;
    chunks.push(rest);
    waiting += rest.length;
  }

  function deliver(line: string): void {
    try {
      transport.onmessage?.(JSON.parse(line) as JSONRPCMessage);
    } catch (cause) {
      refuse(`it sent what is no message of the protocol: ${thrownMessage(cause)}`);
    }
  }
}

/** Of its errors. */
const SAID_BYTES = 2000;

function lastLine(said: Buffer): string {
  const lines = said.toString('utf8').trim().split('\n');
  const line = (lines.findLast(one => /error/i.test(one)) ?? lines.at(-1) ?? '').trim();
  return line === '' ? '' : `: ${line.slice(0, 300)}`;
}
