import type { Readable, Writable } from 'node:stream';
import type { McpServerFactory } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { BODY_MAX_BYTES, tooLarge } from '../http/body-text.ts';
import { boundedLines, type LineEnds } from './bounded-lines.ts';
import { heldUntilAnswered } from './stdio-answers.ts';

export interface StdioStreams {
  readonly input: Readable;
  readonly output: Writable;
}

export interface StdioOptions {
  readonly onFault: (thrown: unknown) => void;
  /** Aborted when the program should end. */
  readonly ending?: AbortSignal;
}

/**
 * Serves one client on the standard streams until it closes its end and has its answers, or the program should end. Nothing else may write to standard output.
 */
export function serveOnStdio(
  mcp: McpServerFactory,
  { onFault, ending }: StdioOptions,
  { input, output }: StdioStreams = { input: process.stdin, output: process.stdout },
): Promise<void> {
  return new Promise(resolve => {
    const lines = boundedLines(BODY_MAX_BYTES, ends => output.write(`${tooLongLine(ends)}\n`));
    const held = heldUntilAnswered(output);
    const transport = new StdioServerTransport(input.pipe(lines).pipe(held.messages), held.output);
    serveStdio(mcp, { transport, onerror: onFault });
    const closed = transport.onclose;
    transport.onclose = () => {
      input.unpipe(lines);
      input.pause();
      closed?.();
      resolve();
    };
    const close = () => void transport.close();
    if (ending?.aborted === true) close();
    else ending?.addEventListener('abort', close, { once: true });
  });
}

/** The answer to a message that was not read: the envelope, with the request id if one of the ends shows it. */
export function tooLongLine({ head, tail }: LineEnds): string {
  const id = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15}|"[^"\\]{1,100}")/.exec(head)?.[1];
  const last = /"id"\s*:\s*(\d{1,15}|"[^"\\]{1,100}")\s*\}\s*$/.exec(tail)?.[1];
  const data = tooLarge();
  const found = id ?? last;
  const error = { code: -32_600, message: data.message, data };
  return JSON.stringify({ jsonrpc: '2.0', id: found === undefined ? null : JSON.parse(found), error });
}
