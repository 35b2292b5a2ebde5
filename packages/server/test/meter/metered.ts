import { createServer, type RequestListener, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AgentRequest, MeterDoor, MeteredCall, MeterVerdict } from '@signalbox/app/host';
import { onTestFinished } from 'vitest';
import { createMeterServer } from '../../src/index.ts';

export const KEY = 'sk-of-the-attempt';
export const REAL = 'sk-real';

/** A call of which everything that the edge tells is kept, in order. */
export function toldCall() {
  const told: string[] = [];
  const over = new AbortController();
  const committing = Promise.withResolvers<void>();
  let settling: Promise<void> | undefined;
  const settled = async (how: string) => {
    told.push(`settled ${how}`);
    if (isHeld) await committing.promise;
    told.push('committed');
  };
  let isHeld = false;
  const call: MeteredCall = {
    signal: over.signal,
    answered: status => void told.push(`answered ${status}`),
    take(chunk) {
      return chunk.includes('LAST');
    },
    settle: how => (settling ??= settled(how)),
  };
  return {
    ...{ call, told, end: () => over.abort(), commit: committing.resolve, lose: committing.reject },
    /** The commit waits until it is let go. */
    hold() {
      isHeld = true;
    },
  };
}

async function listening(handler: RequestListener) {
  const server = createServer(handler);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A provider, and the meter before it. */
export async function metered(
  provider: RequestListener,
  verdict: (asked: AgentRequest) => MeterVerdict = () => ({ kind: 'pass' }),
) {
  const upstream = await listening(provider);
  const away: string[] = [];
  const faults: unknown[] = [];
  const door: MeterDoor = {
    holder: key => (key === KEY ? { real: REAL, upstream, ask: async asked => verdict(asked) } : undefined),
    turnedAway: ({ path }, why) => void away.push(`${path}: ${why}`),
  };
  const edge = createMeterServer({ onFault: thrown => faults.push(thrown) });
  onTestFinished(() => edge.close());
  return { url: (await edge.listen(door)).url, away, faults, upstream };
}

export interface Sent {
  readonly status: number;
  readonly head: readonly string[];
  readonly bytes: Buffer;
  readonly isWhole: boolean;
}

export function send(
  url: string,
  headers: Readonly<Record<string, string>>,
  body = '{}',
  method = 'POST',
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, agent: false }, answer => {
      const parts: Buffer[] = [];
      answer.on('data', part => parts.push(part));
      answer.on('error', () => {});
      answer.on('close', () =>
        resolve({
          status: answer.statusCode ?? 0,
          head: answer.rawHeaders,
          bytes: Buffer.concat(parts),
          isWhole: answer.complete,
        }),
      );
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
