import * as fs from 'node:fs';
import type { SessionId } from '@signalbox/model';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createTestClock, createTestIds, must, note, noted, temporaryDirectory } from '../../test/builders.ts';
import { openJsonlBackend } from './jsonl-backend.ts';
import { createSession } from './session.ts';
import { append, defineEvent, defineSlice } from './slice.ts';

const count = defineSlice({ name: 'Count', item: z.number() });
const added = defineEvent('Added', z.number());

describe('JSONL backend', () => {
  let directory: ReturnType<typeof temporaryDirectory>;
  beforeEach(() => {
    directory = temporaryDirectory();
  });
  afterEach(() => directory.remove());

  function openSession() {
    const backend = must(openJsonlBackend(directory.path, [note, count]));
    const session = createSession({ id: createTestIds().mint<SessionId>(), clock: createTestClock(), backend });
    session.slice(note).register(noted, (_, event) => append(event));
    session.slice(count).register(added, (_, event) => append(event));
    return session;
  }

  it('[S6] slices are there again after a restart', () => {
    const first = openSession();
    must(first.dispatch(noted, 'one\nline'));
    must(first.dispatch(added, 1));
    const before = first.snapshot();
    must(first.dispatch(added, 2));
    must(first.rollback(before));
    const second = openSession();
    expect([second.slice(note).all(), second.slice(count).all()]).toEqual([['one\nline'], [1]]);
  });

  it('[S6] a line that a crash tore is cut off, and the slice goes on', () => {
    must(openSession().dispatch(noted, 'whole'));
    fs.appendFileSync(`${directory.path}/Note.jsonl`, '"torn');
    const session = openSession();
    must(session.dispatch(noted, 'next'));
    expect(openSession().slice(note).all()).toEqual(['whole', 'next']);
  });

  it('[S6] a bad line that is not the last is a named error', () => {
    fs.writeFileSync(`${directory.path}/Note.jsonl`, '"good"\n{bad\n"good"\n');
    const opened = openJsonlBackend(directory.path, [note]);
    expect(opened).toMatchObject({
      ok: false,
      error: { code: 'state/slice-unreadable', message: expect.stringContaining('line 2') },
    });
  });

  it('[S6] a write that fails leaves every file and slice as it was', () => {
    const session = openSession();
    const both = defineEvent('Both', z.null());
    session.slice(note).register(both, () => append('x'));
    session.slice(count).register(both, () => append(1));
    must(session.dispatch(noted, 'kept'));
    fs.mkdirSync(`${directory.path}/Count.jsonl`);
    expect(session.dispatch(both, null)).toMatchObject({ ok: false, error: { code: 'state/dispatch-failed' } });
    expect(session.slice(note).all()).toEqual(['kept']);
    expect(fs.readFileSync(`${directory.path}/Note.jsonl`, 'utf8')).toBe('"kept"\n');
  });
});
