import { setTimeout as sleep } from 'node:timers/promises';
import { readToken, thrownStack } from '@signalbox/app';
import { type ErrorEnvelope, type Result, readOwner, takeUp, thisMachine } from '@signalbox/app/host';
import { bridgeOnStdio, createOperatorMcp, serveOnStdio } from '@signalbox/server';
import { openServing } from './serving/open-serving.ts';
import type { Terminal } from './terminal.ts';

/** How long an owner may take to announce its address; a command that runs alone has ended by then. */
const PATIENCE_MS = 3000;
const LOOK_MS = 50;
/** Above this backlog, notifications for a client that does not read are dropped. */
const WAITING_BYTES = 1_048_576;

/**
 * Serves the operator's surface on stdio until the client closes its end: that of the process that owns the data directory,
 * or, if there is none, of this process, which then owns it and listens for others.
 */
export async function operatorOnStdio(
  terminal: Terminal,
  directory: string,
  ending: AbortSignal,
): Promise<Result<undefined, ErrorEnvelope>> {
  const onFault = (thrown: unknown) => terminal.complain(thrownStack(thrown));
  for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
    const serving = await openServing(terminal, { directory, port: 0 });
    if (serving.ok) {
      const { host, sessions, fleet, url, close } = serving.value;
      try {
        await takeUp(host);
        const isFull = () => process.stdout.writableLength > WAITING_BYTES;
        await serveOnStdio(createOperatorMcp({ host, guided: sessions.runs, fleet, url, isFull, onFault }), {
          onFault,
          ending,
        });
      } finally {
        await close();
      }
      return { ok: true, value: undefined };
    }
    if (serving.error.code !== 'store/owned') return serving;
    const owner = readOwner(directory)?.url;
    if (owner !== undefined) {
      const token = readToken(directory);
      if (!token.ok) return token;
      // Another process may own it by the next request.
      const server = () => ({ url: readOwner(directory)?.url ?? owner, token: token.value });
      await bridgeOnStdio({ server, timers: thisMachine().timers, onFault, ending });
      return { ok: true, value: undefined };
    }
    if (waitedMs >= PATIENCE_MS || ending.aborted) return serving;
    await sleep(LOOK_MS);
  }
}
