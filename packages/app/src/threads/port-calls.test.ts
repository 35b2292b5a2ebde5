import { MessageChannel } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { connectPort, PortClosedError } from './port-calls.ts';

interface Sums {
  add(a: number, b: number): number;
  later(value: string): Promise<string>;
  fail(): never;
  hang(): Promise<never>;
  note(value: string): void;
}

function connect() {
  const { port1, port2 } = new MessageChannel();
  const noted: string[] = [];
  connectPort(port2, {
    add: (a: number, b: number) => a + b,
    later: async (value: string) => value,
    fail() {
      throw new RangeError('no');
    },
    hang: () => new Promise(() => {}),
    note: (value: string) => noted.push(value),
  });
  const remote = connectPort<Sums>(port1, {});
  return { remote, noted, end: () => port1.close() };
}

describe('calls over a port', () => {
  it('[A24] get the answer of their own call, in whatever order answers come', async () => {
    const { remote, end } = connect();
    const answers = await Promise.all([remote.call('later', 'x'), remote.call('add', 1, 2), remote.call('add', 3, 4)]);
    expect(answers).toEqual(['x', 3, 7]);
    end();
  });

  it('[A24] fail as the other side failed', async () => {
    const { remote, end } = connect();
    await expect(remote.call('fail')).rejects.toThrow(new RangeError('no'));
    end();
  });

  it('[A24] need no answer where none is wanted', async () => {
    const { remote, noted, end } = connect();
    remote.tell('note', 'first');
    await remote.call('add', 0, 0);
    expect(noted).toEqual(['first']);
    end();
  });

  it('[A24] end when the other side is gone, those that wait and those that come', async () => {
    const { remote, end } = connect();
    const waiting = remote.call('hang');
    remote.close();
    await expect(waiting).rejects.toThrow(PortClosedError);
    await expect(remote.call('add', 1, 1)).rejects.toThrow(PortClosedError);
    end();
  });
});
