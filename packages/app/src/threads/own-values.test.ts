import type { Json, RunId } from '@signalbox/model';
import type { IntervalSpace, RunReader, RunRecord, StoredEvent } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import { createOwnValues, TAKEN_SPACES } from './own-values.ts';

const run = '01a1ecbf-861d-7746-820f-73637087dc10' as RunId;
const other = '01a1ecbf-861d-7746-820f-73637087dc11' as RunId;

/** A run with one value a space, which says who read it. */
function taking() {
  const now = { id: run, frames: 3, version: 7, nextSeq: 20 };
  const events: string[] = [];
  const asked: string[] = [];
  const readBy = (reader: string) => new Map<string, Json>([['key', { reader }]]);
  const owner = {
    run: async (id: RunId) => (id === run ? ({ ...now } as RunRecord) : undefined),
    async at(_run: RunId, space: IntervalSpace) {
      asked.push(space);
      return readBy('owner');
    },
    events: async () => events.map(type => ({ event: { type } }) as StoredEvent),
  } as unknown as Pick<RunReader, 'run' | 'at' | 'events'>;
  const reads: string[] = [];
  const values = createOwnValues(owner, (id, database) => {
    if (database === 'damaged') throw new Error('damaged');
    reads.push(id);
    return id === run ? { ...now, spaces: new Map(TAKEN_SPACES.map(space => [space, readBy('thread')])) } : undefined;
  });
  const valueAt = async (space: IntervalSpace, frame = now.frames) =>
    ((await values.at(run, space, frame)).get('key') as { readonly reader: string } | undefined)?.reader;
  return { now, events, asked, reads, values, valueAt };
}

describe('[A524] the values of a run that a thread takes up', () => {
  it('are read once by the thread, also before the run is handed over, and held until they are asked for', async () => {
    const { asked, reads, values, valueAt } = taking();
    values.read(run, 'db');
    values.read(run, 'db');
    await values.run(run);
    for (const space of TAKEN_SPACES) expect(await valueAt(space)).toBe('thread');
    expect([asked, reads]).toEqual([[], [run]]);
    expect(await valueAt('node')).toBe('owner');
  });

  it('are used after what people did, and not after a commit of the driver, a collapse or a redaction', async () => {
    const { now: before } = taking();
    for (const [change, told, reader] of [
      [{ nextSeq: 21 }, ['operator.acted'], 'thread'],
      [{ nextSeq: 22 }, ['operator.acted', 'run.redacted'], 'owner'],
      [{ nextSeq: 21 }, ['run.collapsed'], 'owner'],
      [{ nextSeq: 99 }, [], 'owner'],
      [{ version: 8 }, [], 'owner'],
      [{ frames: 4 }, [], 'owner'],
    ] as const) {
      const { now, events, values, valueAt } = taking();
      values.read(run, 'db');
      Object.assign(now, change);
      events.push(...told);
      await values.run(run);
      expect({ change, reader: await valueAt('state', before.frames) }).toEqual({ change, reader });
    }
  });

  it('are the owner’s for another frame, once the run is not driven any more, and if the thread cannot read them', async () => {
    const { reads, values, valueAt } = taking();
    values.read(run, 'db');
    values.read(other, 'db');
    expect(await valueAt('state', 2)).toBe('owner');
    expect(await valueAt('state')).toBe('thread');
    values.forget(run);
    expect(await valueAt('node')).toBe('owner');
    values.read(run, 'damaged');
    expect(await valueAt('node')).toBe('owner');
    expect(reads).toEqual([run, other]);
  });
});
