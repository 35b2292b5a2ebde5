import {
  createSecretFilter,
  type Json,
  knownSecretOf,
  portableHasher,
  type RunId,
  type Timestamp,
} from '@signalbox/model';
import type { AnyEvent, StreamChunk } from '@signalbox/runs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isAtLeast,
  type LogLine,
  lineOfChunk,
  lineOfEvent,
  logLevels,
  MAX_TEXT,
  redactNamed,
  truncate,
} from './log-line.ts';
import { addDropped, addLine, emptySummary } from './log-summary.ts';

const at = '2026-01-01T00:00:00.000Z' as Timestamp;
const run = 'R' as RunId;
const same = (value: Json) => value;
const event = (type: AnyEvent['type'], fields: object) =>
  ({ v: 1, id: 'E', runId: run, seq: 7, ts: at, type, ...fields }) as unknown as AnyEvent;
const levelOf = (type: AnyEvent['type'], fields: object) => lineOfEvent(event(type, fields), 'C', same).level;

describe('a line of a log', () => {
  it('[A95] says when, how bad, what part, which run, node, task and correlation, and what happened', () => {
    const started = event('task.started', { task: 'T', node: 'build', iteration: 2, attempt: 3 });
    expect(lineOfEvent(started, 'C', same)).toEqual({
      timestamp: at,
      level: 'info',
      component: 'task',
      run,
      node: 'build',
      task: 'T',
      correlationId: 'C',
      event: 'task.started',
      seq: 7,
      message: 'attempt 3 began, turn 3',
      data: { iteration: 2, attempt: 3 },
    });
  });

  it('[A95] is as bad as its event', () => {
    expect(levelOf('frame.committed', { frame: 1, trigger: { kind: 'state' }, mounted: 0, unmounted: 0 })).toBe(
      'debug',
    );
    expect(levelOf('task.retry', { attempt: 1, retryAt: at, error: { message: 'busy' } })).toBe('warn');
    expect(levelOf('task.ended', { attempt: 1, outcome: 'error' })).toBe('error');
    expect(levelOf('run.status', { from: 'running', to: 'failed', error: { code: 'thread-lost', message: '' } })).toBe(
      'fatal',
    );
    expect(levelOf('run.status', { from: 'running', to: 'completed' })).toBe('info');
    expect(logLevels.map(level => isAtLeast(level, 'warn'))).toEqual([false, false, true, true, true]);
  });

  it('[A96] holds no secret: neither by its value nor by its name', () => {
    const mac = (text: string) => portableHasher(text).slice(7);
    const known = [knownSecretOf('GAME', 'hunter2-hunter2', mac)];
    const clean = createSecretFilter({ known, mac }).data;
    const line = lineOfEvent(
      event('signal.received', {
        name: 'x',
        by: 'anna',
        payload: { note: 'it is hunter2-hunter2', apiKey: 'k', nested: [{ access_token: 't', tokens: 3 }] },
      }),
      'C',
      clean,
    );
    expect(line.data).toEqual({
      name: 'x',
      by: 'anna',
      payload: {
        note: 'it is [redacted: GAME]',
        apiKey: '[redacted]',
        nested: [{ access_token: '[redacted]', tokens: 3 }],
      },
    });
    const chunk = {
      task: 'T',
      index: 0,
      kind: 'tool_start',
      payload: { input: 'hunter2-hunter2' },
      at,
    } as unknown as StreamChunk;
    expect(JSON.stringify(lineOfChunk(run, 'n', chunk, 'C', clean))).not.toContain('hunter2');
    const failed = event('run.status', {
      from: 'running',
      to: 'failed',
      error: { code: 'x', message: 'key hunter2-hunter2' },
    });
    expect(JSON.stringify(lineOfEvent(failed, 'C', clean))).not.toContain('hunter2');
  });

  it('[A96] keeps everything that no name calls secret', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        const plain = JSON.parse(JSON.stringify(value)) as Json;
        const kept = redactNamed(plain);
        if (!/token|secret|passw|key|auth|cookie|cred/i.test(JSON.stringify(plain))) expect(kept).toEqual(plain);
      }),
    );
  });

  it('[A97] is cut to size, and says so', () => {
    const long = 'x'.repeat(MAX_TEXT * 3);
    const line = lineOfEvent(
      event('signal.received', { name: 'x', by: 'anna', payload: { long, short: 'y' } }),
      'C',
      same,
    );
    expect(line.truncated).toBe(true);
    expect((line.data as { payload: { long: string; short: string } }).payload).toEqual({
      long: `${'x'.repeat(MAX_TEXT)}… (${MAX_TEXT * 2} more)`,
      short: 'y',
    });
    const many = Array.from({ length: 1000 }, () => 'z'.repeat(1000));
    expect(JSON.stringify(truncate(many, MAX_TEXT).value).length).toBeLessThan(MAX_TEXT * 2);
  });
});

describe('the summary of a log', () => {
  const line = (fields: Partial<LogLine>): LogLine => ({
    timestamp: at,
    level: 'info',
    component: 'task',
    run,
    correlationId: 'C',
    event: 'task.started',
    message: '',
    ...fields,
  });

  it('[A98] counts lines, bytes, levels, events, what was cut and what was left out, and has the first failures', () => {
    const failures = Array.from({ length: 25 }, (_, seq) =>
      line({ level: 'error', event: 'task.ended', node: 'n', message: `no ${seq}`, seq }),
    );
    const summary = emptySummary('R', 'C');
    for (const each of [line({ seq: 0 }), line({ truncated: true, level: 'debug' }), ...failures])
      addLine(summary, each, 10);
    addDropped(summary, line({ level: 'debug', seq: 99 }));
    expect(summary).toMatchObject({
      lines: 27,
      bytes: 270,
      lastSeq: 99,
      byLevel: { info: 1, debug: 1, error: 25 },
      byEvent: { 'task.started': 2, 'task.ended': 25 },
      truncated: 1,
      dropped: { debug: 1 },
    });
    expect(summary.failures).toHaveLength(20);
    expect(summary.failures[0]).toEqual({ at, node: 'n', message: 'no 0' });
  });
});
