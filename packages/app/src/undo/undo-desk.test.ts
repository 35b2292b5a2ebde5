import type { RunId } from '@signalbox/model';
import type { AnyEvent, RunReader } from '@signalbox/runs';
import { expect, it } from 'vitest';
import { undoneCalls } from './undo-desk.ts';

it('lists the undone calls of a run, and reads each of its events once', async () => {
  const log: Partial<AnyEvent>[] = [];
  const from: number[] = [];
  const reader: Pick<RunReader, 'events'> = {
    async events(_run, seq, limit) {
      from.push(seq);
      return log.slice(seq, seq + limit).map((event, index) => ({ event: { ...event, seq: seq + index } })) as never;
    },
  };
  const run = { id: 'a' as RunId };
  const undone = async (one = run) => [...(await undoneCalls(reader, one))];
  log.push({ type: 'run.created' }, { type: 'call.undone', call: 'one' });
  expect(await undone()).toEqual(['one']);
  log.push({ type: 'call.undone', call: 'brought back', kept: true }, { type: 'call.undone', call: 'two' });
  expect(await undone()).toEqual(['one', 'two']);
  expect(await undone()).toEqual(['one', 'two']);
  expect(await undone({ id: 'b' as RunId })).toEqual(['one', 'two']);
  expect(from).toEqual([0, 2, 4, 0]);
});
