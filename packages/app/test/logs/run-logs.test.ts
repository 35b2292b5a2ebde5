import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { nodeHasher } from '@signalbox/journal';
import { createSecretFilter, type Json, knownSecretOf } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { changed, key, newRun, runCreated, signal, startRun, task } from '../../../runs/test/builders.ts';
import { openHostLog } from '../../src/logs/host-log.ts';
import { lazyHostLog } from '../../src/logs/lazy-host-log.ts';
import { readLogSettings } from '../../src/logs/log-config.ts';
import { openRunLogs, type RunLogOptions } from '../../src/logs/run-log-files.ts';
import { createRunLogWriter, type RunLogWriterPorts } from '../../src/logs/run-log-writer.ts';
import { storeIn } from '../retention/support.ts';
import { manualMachine } from '../support/run-builders.ts';
import { until } from '../support/until.ts';
import { temporaryFolder } from '../temporary-folder.ts';

function opened(home: string, options: Partial<RunLogOptions & RunLogWriterPorts> = {}) {
  const store = storeIn(home);
  const { timers, pass: passTime } = manualMachine();
  /** Once everybody was told of what is committed. */
  const pass = async (ms: number) => {
    await new Promise(process.nextTick);
    passTime(ms);
  };
  const open = () =>
    openRunLogs({
      feed: store,
      timers,
      writer: createRunLogWriter({ reader: store, dataDirectory: home, clean: value => value, ...options }),
      ...options,
    });
  return { store, pass, open };
}

const logOf = (home: string, run: string, name = 'stream.ndjson') => path.join(home, 'runs', run, 'logs', name);
const linesOf = (home: string, run: string): readonly Record<string, Json>[] =>
  readFileSync(logOf(home, run), 'utf8')
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));
const summaryOf = (home: string, run: string) =>
  JSON.parse(readFileSync(logOf(home, run, 'stream.summary.json'), 'utf8'));

describe('the log of a run', () => {
  it('[A95] has a line for every event, in order, and one correlation for a run and its sub-plans', async () => {
    const home = temporaryFolder();
    const { store, open } = opened(home);
    const logs = open();
    const parent = await startRun(store, newRun({ correlationId: 'order-7' }));
    const origin = { kind: 'sub-plan', run: parent.run, node: key('sub'), iteration: 0 } as const;
    const child = await startRun(store, newRun({ origin }));
    for (let n = 0; n < 5; n++)
      await parent.write({ at: '2026-01-01T00:00:00.000Z' as never, events: [signal(`s${n}`)] });
    await logs.close();
    expect(linesOf(home, parent.run).map(({ seq, event }) => [seq, event])).toEqual([
      [0, 'run.created'],
      ...[1, 2, 3, 4, 5].map(seq => [seq, 'signal.received']),
    ]);
    expect([...linesOf(home, parent.run), ...linesOf(home, child.run)].map(line => line.correlationId)).toEqual(
      Array(7).fill('order-7'),
    );
    expect(summaryOf(home, parent.run)).toMatchObject({
      lines: 6,
      lastSeq: 5,
      byEvent: { 'run.created': 1, 'signal.received': 5 },
    });
    store.close();
  });

  it('[A197] that cannot be written catches up when it can, without a gap or a double', async () => {
    const home = temporaryFolder();
    const faults: unknown[] = [];
    const { store, open, pass } = opened(home, { onFault: thrown => faults.push(thrown) });
    const logs = open();
    // A file in place of the folder.
    writeFileSync(path.join(home, 'runs'), '');
    const { run, write } = await startRun(store, newRun());
    await write({ at: '2026-01-01T00:00:00.000Z' as never, events: [signal('a')] });
    await pass(500);
    await until(() => faults.length === 1 || undefined);
    await pass(1000);
    rmSync(path.join(home, 'runs'));
    // It is tried again by itself, with nothing new to tell.
    for (let waited = 0; !existsSync(logOf(home, run)); waited += 1) {
      if (waited > 1000) throw new Error('it does not catch up');
      await pass(60_000);
      await new Promise(resolve => setImmediate(resolve));
    }
    await logs.close();
    expect(linesOf(home, run).map(({ seq }) => seq)).toEqual([0, 1]);
    expect(faults).toHaveLength(1);
    store.close();
  });

  it('[A98] is written a moment after the commit, and its summary when the run rests', async () => {
    const home = temporaryFolder();
    const { store, open, pass } = opened(home);
    const logs = open();
    const writer = await startRun(store);
    expect(existsSync(logOf(home, writer.run))).toBe(false);
    await pass(500);
    await until(() => existsSync(logOf(home, writer.run)) || undefined);
    expect(existsSync(logOf(home, writer.run, 'stream.summary.json'))).toBe(false);
    const status = { ...runCreated(newRun()), type: 'run.status', from: 'running', to: 'completed' } as object;
    const { driver: _, name: __, ...event } = status as Record<string, never>;
    await writer.write({ ...changed({ status: 'completed' }), events: [event as never] });
    await pass(100);
    await until(() => existsSync(logOf(home, writer.run, 'stream.summary.json')) || undefined);
    expect(summaryOf(home, writer.run)).toMatchObject({ lines: 2, byLevel: { info: 2 } });
    await logs.close();
    store.close();
  });

  it('[A99] goes on in the next process: what was not written is, what was is not again, and a torn line goes', async () => {
    const home = temporaryFolder();
    const { store, open } = opened(home);
    const first = open();
    const writer = await startRun(store);
    await writer.write({ at: '2026-01-01T00:00:00.000Z' as never, events: [signal('told')] });
    await first.close();
    // Nobody listens, and then the process dies while it writes.
    await writer.write({ at: '2026-01-01T00:00:00.000Z' as never, events: [signal('missed')] });
    appendFileSync(logOf(home, writer.run), '{"timestamp":"2026-01-');
    const second = open();
    await writer.write({ at: '2026-01-01T00:00:00.000Z' as never, events: [signal('new')] });
    await second.close();
    expect(linesOf(home, writer.run).map(({ seq }) => seq)).toEqual([0, 1, 2, 3]);
    expect(summaryOf(home, writer.run)).toMatchObject({ lines: 4, lastSeq: 3 });
    store.close();
  });

  it('[A473] of a process that was killed is completed after the next start, though nothing happens in the run', async () => {
    const home = temporaryFolder();
    const { store, open, pass } = opened(home);
    const { run } = await startRun(store);
    const next = open();
    await pass(500);
    await until(() => existsSync(logOf(home, run)) || undefined);
    await next.close();
    expect(linesOf(home, run).map(({ seq }) => seq)).toEqual([0]);
    store.close();
  });

  it('[A97] has a size: past half of it nothing is for debugging, past all of it only warnings are written; the rest is counted', async () => {
    const home = temporaryFolder();
    const { store, open } = opened(home, { maxBytes: 4000 });
    const logs = open();
    const writer = await startRun(store);
    const at = '2026-01-01T00:00:00.000Z' as never;
    const envelope = () => ({ ts: at });
    for (let n = 0; n < 30; n++) {
      await writer.write({
        at,
        events: [
          signal('info'),
          { ...envelope(), type: 'usage.recorded', call: `call-${n}` },
          {
            ...envelope(),
            type: 'task.orphaned',
            task: task(writer.run).id,
            node: key('n'),
            iteration: 0,
            attempt: 1,
            action: 'retry',
          },
        ],
      });
    }
    await logs.close();
    const lines = linesOf(home, writer.run);
    const summary = summaryOf(home, writer.run);
    expect(lines.filter(({ level }) => level === 'warn')).toHaveLength(30);
    expect(summary.dropped.debug).toBe(30 - lines.filter(({ level }) => level === 'debug').length);
    expect(summary.dropped.info).toBe(31 - lines.filter(({ level }) => level === 'info').length);
    expect(summary.dropped.debug).toBeGreaterThan(summary.dropped.info);
    expect(summary).toMatchObject({ lines: lines.length, lastSeq: 90 });
    store.close();
  });

  it('[A97] that cannot be written does not hold the run up', async () => {
    const home = temporaryFolder();
    const faults: unknown[] = [];
    const { store, open } = opened(home, {
      dataDirectory: '/proc/self/nowhere',
      onFault: thrown => faults.push(thrown),
    });
    const logs = open();
    await startRun(store);
    await logs.close();
    expect(faults).toHaveLength(1);
    store.close();
  });
});

describe('the settings of logs', () => {
  it('[A97] are those of the configuration; what does not fit is told and not used', () => {
    const home = temporaryFolder();
    const configured = (text: string) => {
      writeFileSync(path.join(home, 'config.json'), text);
      return readLogSettings(home);
    };
    expect(readLogSettings(home)).toEqual({ ok: true, value: {} });
    expect(configured('{"retention": {}, "logs": {"level": "warn", "maxBytes": 5000}}')).toEqual({
      ok: true,
      value: { level: 'warn', maxBytes: 5000 },
    });
    expect(configured('{"logs": {"level": "loud"}}')).toMatchObject({
      ok: false,
      error: expect.stringContaining('logs.level'),
    });
    expect(configured('{')).toEqual({ ok: false, error: 'config.json cannot be used: it is not JSON' });
  });
});

describe('the log of the process', () => {
  it('[A99] is NDJSON with levels and components, without secrets, and is opened when there is something to say', async () => {
    const home = temporaryFolder();
    const mac = (text: string) => nodeHasher(text).slice(7);
    const filter = createSecretFilter({ known: [knownSecretOf('DOOR', 's3cret-door', mac)], mac });
    const log = lazyHostLog(async () => openHostLog({ dataDirectory: home, level: 'info', filter }));
    expect(existsSync(path.join(home, 'logs'))).toBe(false);
    log.with({ component: 'threads', run: 'R' }).say('warn', 'a thread was lost: s3cret-door', {
      token: 'abc',
      reason: 'memory',
      error: new Error('s3cret-door'),
    });
    log.say('debug', 'not told');
    log.say('info', 'told');
    await log.close();
    const lines = readFileSync(path.join(home, 'logs', 'host.ndjson'), 'utf8')
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(lines).toMatchObject([
      {
        level: 'warn',
        component: 'threads',
        run: 'R',
        token: '[redacted]',
        reason: 'memory',
        message: 'a thread was lost: [redacted: DOOR]',
        error: { type: 'Error', message: '[redacted: DOOR]' },
      },
      { level: 'info', component: 'host', message: 'told' },
    ]);
    expect(lines[0].timestamp).toMatch(/^\d{4}-\d\d-\d\dT/);
  });
});
