import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Json } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { at, key, newRun, signal, startRun, task } from '../../../runs/test/builders.ts';
import { createRunLogWriter, PIECE_BYTES } from '../../src/logs/run-log-writer.ts';
import { contentOf } from '../../src/packed-file.ts';
import { createJournalThread } from '../../src/run-journal/journal-thread.ts';
import { storeIn } from '../retention/support.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const folderOf = (home: string, run: string) => path.join(home, 'runs', run, 'logs');
const writerIn = (home: string, reader: ReturnType<typeof storeIn>) =>
  createRunLogWriter({ reader, dataDirectory: home, clean: value => value });

/** Every line of a log, from its first file to its last. */
function linesOf(home: string, run: string): readonly Record<string, Json>[] {
  const folder = folderOf(home, run);
  const packed = readdirSync(folder).flatMap(name => Number(/^stream\.(\d+)\./.exec(name)?.[1] ?? []));
  const files = [...packed.toSorted((a, b) => a - b).map(n => `stream.${n}.ndjson.zst`), 'stream.ndjson'];
  return files
    .filter(name => existsSync(path.join(folder, name)))
    .flatMap(name =>
      Buffer.from(contentOf(path.join(folder, name)))
        .toString()
        .trimEnd()
        .split('\n'),
    )
    .map(line => JSON.parse(line));
}

/** A run with so many events that its log takes several files. */
async function longRun(store: ReturnType<typeof storeIn>, events = 900) {
  const { run, write } = await startRun(store, newRun());
  for (let n = 0; n < events / 100; n++) {
    await write({
      at: at(),
      events: Array.from({ length: 100 }, (_, index) => signal(`${n} ${index} ${'x'.repeat(500)}`)),
    });
  }
  return { run, write };
}

describe('a log that is large', () => {
  it('[A471] is in compressed files and a plain one, without a gap or a double, whatever process wrote it', async () => {
    const home = temporaryFolder();
    const store = storeIn(home);
    const { run, write } = await longRun(store);
    expect(await writerIn(home, store).writeLogs([run])).toEqual({ left: [] });
    const names = readdirSync(folderOf(home, run));
    expect(names.filter(name => name.endsWith('.zst')).length).toBeGreaterThan(1);
    expect(linesOf(home, run).map(({ seq }) => seq)).toEqual(Array.from({ length: 901 }, (_, seq) => seq));

    await write({ at: at(), events: [signal('later')] });
    const next = writerIn(home, store);
    await next.writeLogs([run]);
    await next.restLogs();
    expect(linesOf(home, run).map(({ seq }) => seq)).toEqual(Array.from({ length: 902 }, (_, seq) => seq));
    const summary = JSON.parse(readFileSync(path.join(folderOf(home, run), 'stream.summary.json'), 'utf8'));
    expect(summary).toMatchObject({ lines: 902, lastSeq: 901, byEvent: { 'run.created': 1, 'signal.received': 901 } });
    store.close();
  });

  it('[A471] is whole after its process was killed between compressing lines and removing them', async () => {
    const home = temporaryFolder();
    const store = storeIn(home);
    const { run, write } = await longRun(store);
    await writerIn(home, store).writeLogs([run]);
    const folder = folderOf(home, run);
    const last = readdirSync(folder)
      .filter(name => name.endsWith('.zst'))
      .toSorted()
      .at(-1) as string;
    const before = linesOf(home, run).length;
    // As it was then: the lines of the last compressed file are in the plain one too, and nothing more was told.
    const told = contentOf(path.join(folder, last));
    writeFileSync(path.join(folder, 'stream.ndjson'), told);
    await write({ at: at(), events: [signal('later')] });
    await writerIn(home, store).writeLogs([run]);
    expect(linesOf(home, run).map(({ seq }) => seq)).toEqual(Array.from({ length: before + 1 }, (_, seq) => seq));
    store.close();
  });

  it('[A471] is cut into files however much one commit tells', async () => {
    const home = temporaryFolder();
    const store = storeIn(home);
    const { run, write } = await startRun(store, newRun());
    await write({ at: at(), events: Array.from({ length: 1500 }, (_, n) => signal(`${n} ${'y'.repeat(900)}`)) });
    await writerIn(home, store).writeLogs([run]);
    const packed = readdirSync(folderOf(home, run)).filter(name => name.endsWith('.zst'));
    expect(packed.length).toBeGreaterThan(3);
    for (const name of packed) {
      expect(contentOf(path.join(folderOf(home, run), name)).length).toBeLessThan(2 * PIECE_BYTES);
    }
    expect(linesOf(home, run)).toHaveLength(1501);
    store.close();
  });
});

describe('a log that is written from records', () => {
  it('[A472] tells what agents did with tools after the events of its commit, and once', async () => {
    const home = temporaryFolder();
    const store = storeIn(home);
    const { run, write } = await startRun(store, newRun());
    const worker = task(run, { node: key('build') });
    const chunk = (index: number, kind: 'tool_start' | 'message' | 'token') => ({
      task: worker.id,
      index,
      kind,
      payload: { tool: 'read', role: 'assistant', text: 'hello' },
      at: at(),
    });
    await write({
      at: at(),
      tasks: [worker],
      stream: [chunk(0, 'token'), chunk(1, 'tool_start')],
      events: [signal('a')],
    });
    const writer = writerIn(home, store);
    await writer.writeLogs([run]);
    await write({ at: at(), stream: [chunk(2, 'message'), chunk(3, 'tool_start')] });
    await writer.writeLogs([run]);
    const told = () => linesOf(home, run).map(({ event, seq, node }) => [event, seq, node]);
    const expected = [
      ['run.created', 0, undefined],
      ['signal.received', 1, undefined],
      ['stream.tool_start', undefined, 'build'],
      ['stream.tool_start', undefined, 'build'],
    ];
    expect(told()).toEqual(expected);
    // Another process cannot know which of them were told after the last event, and tells none of them again.
    await writerIn(home, store).writeLogs([run]);
    expect(told()).toEqual(expected);
    store.close();
  });

  it('[A472] is the same whether a thread of its own writes it or the process itself', async () => {
    const home = temporaryFolder();
    const store = storeIn(home);
    const { run } = await longRun(store, 300);
    const here = path.join(temporaryFolder(), 'here');
    cpSync(home, here, { recursive: true });
    const thread = createJournalThread({ dataDirectory: home });
    expect(thread.isStarted()).toBe(false);
    expect(await thread.writeLogs([run])).toEqual({ left: [] });
    expect(thread.isStarted()).toBe(true);
    await thread.close();
    expect(await thread.writeLogs([run])).toEqual({ left: [run] });
    await writerIn(here, store).writeLogs([run]);
    expect(linesOf(home, run)).toEqual(linesOf(here, run));
    store.close();
  });
});
