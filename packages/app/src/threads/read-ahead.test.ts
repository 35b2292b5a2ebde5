import type { Json, RunId } from '@signalbox/model';
import type { RunReader, RunRecord } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import { createReadAhead, rowsOfText } from './read-ahead.ts';

const run = '01a1ecbf-861d-7746-820f-73637087dc10' as RunId;

/** A run with one row a space, which says how often it was read. */
function counted() {
  const now = { frames: 3, version: 7 };
  const reads: string[] = [];
  const reader: Pick<RunReader, 'run' | 'at'> = {
    run: async () => now as RunRecord,
    async at(_run, space, frame) {
      reads.push(`${space} ${frame}`);
      return new Map<string, Json>([['key', { version: now.version, zero: [0, null] }]]);
    },
  };
  return { now, reads, ahead: createReadAhead(reader) };
}

describe('[A524] what is read ahead of a run that a thread takes up', () => {
  it('is what the thread would have read, and is read once', async () => {
    const { reads, ahead } = counted();
    ahead.begin(run);
    const rows = rowsOfText(await ahead.at(run, 'status', 3));
    expect(rows).toEqual(new Map([['key', { version: 7, zero: [0, null] }]]));
    await ahead.at(run, 'node', 3);
    expect(reads).toEqual(['node 3', 'status 3', 'state 3', 'read 3']);
  });

  it('is read again where the run has changed since, for another frame, and the second time', async () => {
    const { now, reads, ahead } = counted();
    ahead.begin(run);
    await ahead.at(run, 'node', 3);
    reads.length = 0;
    now.version = 8;
    expect(rowsOfText(await ahead.at(run, 'status', 3)).get('key')).toMatchObject({ version: 8 });
    await ahead.at(run, 'state', 2);
    await ahead.at(run, 'node', 3);
    expect(reads).toEqual(['status 3', 'state 2', 'node 3']);
  });

  it('is not kept once nobody drives the run', async () => {
    const { reads, ahead } = counted();
    ahead.begin(run);
    ahead.end(run);
    await ahead.at(run, 'node', 3);
    expect(reads).toEqual(['node 3']);
  });
});
