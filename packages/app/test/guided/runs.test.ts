import { appendFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Disk, hostDisk } from '@signalbox/journal';
import { describe, expect, it } from 'vitest';
import { filledIn } from '../../../guided/test/support/agent-calls.ts';
import { dataDirectory, value } from '../../../guided/test/support/guided-walk.ts';
import { keepSession, openGuidedSessions } from '../../src/guided/index.ts';
import { thisMachine } from '../../src/machine.ts';
import { openTools } from '../support/open-tools.ts';

describe('guided runs', () => {
  it('[A137] are listed again without reading a session that was not written since', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory);
    const first = value(await tools.start({ workflowId: 'wr.research' }));
    const second = value(await tools.start({ workflowId: 'wr.research' }));
    const read: string[] = [];
    const disk: Disk = {
      ...hostDisk,
      read(place, from) {
        read.push(path.relative(directory, place).split('/')[1] ?? '');
        return hostDisk.read(place, from);
      },
    };
    const { runs } = openGuidedSessions({ dataDirectory: directory, directories: [], machine: thisMachine(), disk });
    const list = () => value(runs.list());
    list();
    const before = list();
    expect(before.map(({ id }) => id)).toEqual([second.runId, first.runId]);
    read.length = 0;
    const again = list();
    expect([read, again.every((run, index) => run === before[index])]).toEqual([[], true]);
    value(await tools.continue(filledIn(first)));
    const moved = list();
    expect(read).toContain(first.sessionId);
    expect(read).not.toContain(second.sessionId);
    expect(moved[0]).toBe(before[0]);
    expect(moved[1]?.record.nextSeq).toBeGreaterThan(before[1]?.record.nextSeq ?? 0);
    await keepSession({ dataDirectory: directory }, second.sessionId, true);
    expect(
      value(openGuidedSessions({ dataDirectory: directory, directories: [], machine: thisMachine() }).list()),
    ).toMatchObject([{ isKept: false }, { isKept: true }]);
  });

  it('[A138] of a session that is damaged show what is valid, and nothing waits in them', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory);
    const started = value(await tools.start({ workflowId: 'wr.research' }));
    value(await tools.continue(filledIn(started)));
    const { runs } = openGuidedSessions({ dataDirectory: directory, directories: [], machine: thisMachine() });
    const whole = value(runs.events(started.runId, 0, 1000));
    appendFileSync(path.join(directory, 'sessions', started.sessionId, 'manifest.jsonl'), '{"not":"a record"}\n');
    const [run] = value(runs.list());
    expect(run?.guided?.health).toBe('corrupt_tail');
    expect(value(runs.events(started.runId, 0, 1000))).toEqual(whole);
    expect(Object.keys(value(runs.show(started.runId))?.nodes ?? {})).toHaveLength(2);
    expect(value(runs.decisions())).toEqual([]);
    writeFileSync(path.join(directory, 'sessions', started.sessionId, 'manifest.jsonl'), 'x');
    expect(value(runs.list())).toEqual([]);
  });
});
