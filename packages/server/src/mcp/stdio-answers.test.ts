import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { heldUntilAnswered } from './stdio-answers.ts';

const call = (id: number, method = 'tools/call') => `${JSON.stringify({ jsonrpc: '2.0', id, method, params: {} })}\n`;

function held() {
  const answers = new PassThrough();
  const { messages, output } = heldUntilAnswered(answers);
  const read: string[] = [];
  let isEnded = false;
  messages.on('data', (chunk: Buffer) => read.push(chunk.toString('utf8')));
  const ended = new Promise<void>(resolve => {
    messages.on('end', () => {
      isEnded = true;
      resolve();
    });
  });
  return { messages, output, read, ended, isEnded: () => isEnded };
}

const turn = () => new Promise(resolve => setImmediate(resolve));

describe('[X85] a client that closes its end with calls in flight', () => {
  it('has the end held back until each is answered', async () => {
    const { messages, output, ended, isEnded } = held();
    messages.write(call(1));
    messages.end(call(2));
    await turn();
    output.write(`${JSON.stringify({ jsonrpc: '2.0', id: 2, result: {} })}\n`);
    await turn();
    await turn();
    expect(isEnded()).toBe(false);
    output.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -1, message: '' } })}\n`);
    await ended;
  });

  it('is not kept by a call that it cancelled, a stream that stays open, or none at all', async () => {
    const { messages, ended } = held();
    messages.write(call(1));
    messages.write(call(2, 'subscriptions/listen'));
    messages.end(
      `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })}\n`,
    );
    await ended;
    const none = held();
    none.messages.end('{}\n');
    await none.ended;
  });

  it('has a last call without its newline read', async () => {
    const { messages, output, read, ended } = held();
    messages.end(call(3).trimEnd());
    await turn();
    expect(read.join('')).toBe(call(3));
    output.write(`${JSON.stringify({ jsonrpc: '2.0', id: 3, result: {} })}\n`);
    await ended;
  });
});
