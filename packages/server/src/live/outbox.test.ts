import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ServerMessage } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { manualTimers } from '../../test/manual-timers.ts';
import { createOutbox, SLOW_MS } from './outbox.ts';

const small = { kind: 'welcome' } as const;
const large = { kind: 'refused', error: { message: 'x'.repeat(400_000) } } as unknown as ServerMessage;

function stage() {
  const manual = manualTimers();
  const reads: (() => void)[] = [];
  const closed: string[] = [];
  const socket = Object.assign(new EventEmitter(), {
    OPEN: 1,
    readyState: 1,
    send: (_data: Buffer, _options: object, read: () => void) => reads.push(read),
    close: (code: number) => closed.push(`close ${code}`),
    terminate: () => closed.push('terminate'),
  });
  const writes: string[] = [];
  const wire = { cork: () => void writes.push('cork'), uncork: () => void writes.push('uncork') };
  let freed = 0;
  const outbox = createOutbox(socket as unknown as WebSocket, wire, manual.timers, () => {
    freed += 1;
  });
  return { manual, writes, reads, closed, socket, outbox, freed: () => freed };
}

describe('an outbox', () => {
  it('[V32] has room until a megabyte waits, and again when most of it was read', () => {
    const { outbox, reads, freed } = stage();
    outbox.send(large);
    outbox.send(large);
    expect(outbox.isFree).toBe(true);
    outbox.send(large);
    expect(outbox.isFree).toBe(false);
    reads[0]?.();
    reads[1]?.();
    expect([outbox.isFree, freed()]).toEqual([false, 0]);
    reads[2]?.();
    expect([outbox.isFree, freed()]).toEqual([true, 1]);
  });

  it('[V32] cuts off a client that does not read', () => {
    const { outbox, manual, closed } = stage();
    for (let sent = 0; sent < 3; sent += 1) outbox.send(large);
    manual.advance(SLOW_MS - 1);
    expect(closed).toEqual([]);
    manual.advance(1);
    expect(closed).toEqual(['close 4408', 'terminate']);
  });

  it('[V32] keeps a client that has read by then, and ignores one that is gone', () => {
    const slow = stage();
    for (let sent = 0; sent < 3; sent += 1) slow.outbox.send(large);
    for (const read of slow.reads) read();
    const gone = stage();
    for (let sent = 0; sent < 3; sent += 1) gone.outbox.send(large);
    gone.socket.emit('close');
    slow.manual.advance(2 * SLOW_MS);
    gone.manual.advance(2 * SLOW_MS);
    expect([slow.closed, gone.closed]).toEqual([[], []]);
  });

  it('[V400] writes what is sent in one turn of the event loop together', async () => {
    const { outbox, reads, writes } = stage();
    outbox.send(small);
    await Promise.resolve();
    outbox.send(small);
    expect([writes, reads.length]).toEqual([['cork'], 2]);
    await nextTurn();
    outbox.send(small);
    expect(writes).toEqual(['cork', 'uncork', 'cork']);
  });

  it('[V401] serializes a message once for all clients', () => {
    let serialized = 0;
    const shared = {
      ...small,
      toJSON() {
        serialized += 1;
        return small;
      },
    };
    const clients = [stage(), stage(), stage()];
    for (const { outbox } of clients) outbox.send(shared);
    expect([serialized, ...clients.map(({ reads }) => reads.length)]).toEqual([1, 1, 1, 1]);
  });
});
