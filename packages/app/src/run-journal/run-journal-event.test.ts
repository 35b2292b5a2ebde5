import { dedupeKey } from '@signalbox/journal';
import { type Digest, digestHex, eventId, nodeId, type RunEvent, runEvent, runId } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { draftOf, isRunEventKind, runJournalSchema, sessionOfRun, snapshotPath } from './run-journal-event.ts';

const id = (last: number) => `01900000-0000-7000-8000-${String(last).padStart(12, '0')}`;
const run = runId.parse(id(1));
const node = nodeId.parse(id(2));

const fields = { v: 1, id: id(3), runId: run, seq: 7, ts: '2026-01-01T00:00:00Z' };
const phase = runEvent.parse({ ...fields, type: 'run.phase', phase: 'EXECUTE' });
const started = runEvent.parse({ ...fields, type: 'tool.started', nodeId: node, toolId: id(4) });

const journaled = (event: RunEvent) => ({
  ...draftOf(event),
  v: 1,
  eventIndex: event.seq,
  sessionId: sessionOfRun(event.runId),
});

describe('[A6] an event of a run in its journal', () => {
  it('is the contract event and an envelope that repeats it', () => {
    expect(draftOf(started)).toEqual({
      eventId: eventId.parse(id(3)),
      kind: 'tool.started',
      dedupeKey: dedupeKey.parse(`run_event:${run}:7`),
      scope: { runId: run, nodeId: node },
      data: started,
    });
    expect(draftOf(phase).scope).toEqual({ runId: run });
    expect(runJournalSchema.decode(journaled(phase))).toEqual({ ok: true, value: journaled(phase) });
    expect(runJournalSchema.decode(journaled(started))).toEqual({ ok: true, value: journaled(started) });
  });

  const other = id(9);
  it.each([
    ['eventId', { eventId: other }, `eventId: its data says "${id(3)}"`],
    ['eventIndex', { eventIndex: 8 }, 'eventIndex: its data says 7'],
    ['sessionId', { sessionId: other }, `sessionId: its data says "${run}"`],
    ['kind', { kind: 'run.phase' }, 'kind: its data says "tool.started"'],
    ['dedupeKey', { dedupeKey: `run_event:${run}:8` }, `dedupeKey: its data says "run_event:${run}:7"`],
    ['scope.runId', { scope: { runId: other, nodeId: node } }, `scope.runId: its data says "${run}"`],
    ['scope.nodeId', { scope: { runId: run, nodeId: other } }, `scope.nodeId: its data says "${node}"`],
    ['a missing node', { scope: { runId: run } }, `scope.nodeId: its data says "${node}"`],
  ])('is refused when %s disagrees', (_name, change, error) => {
    expect(runJournalSchema.decode({ ...journaled(started), ...change })).toEqual({ ok: false, error });
  });

  it('is refused with a node that its data does not have', () => {
    const decoded = runJournalSchema.decode({ ...journaled(phase), scope: { runId: run, nodeId: node } });
    expect(decoded).toEqual({ ok: false, error: 'scope.nodeId: its data says undefined' });
  });

  it('is refused with a field too many, without its scope, or with data that is no event', () => {
    const values = [
      { ...journaled(phase), extra: 1 },
      { ...journaled(phase), scope: undefined },
      { ...journaled(phase), data: { ...phase, phase: 'LUNCH' } },
    ];
    expect(values.map(value => runJournalSchema.decode(value).ok)).toEqual([false, false, false]);
  });

  it('has a kind of the contract', () => {
    expect(['run.phase', 'artifact.created', 'session_created', undefined].map(isRunEventKind)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});

describe('[A7] the snapshots of an event', () => {
  const hex = 'ab'.repeat(32);
  const created = (path: string) =>
    runJournalSchema.decode(
      journaled(
        runEvent.parse({
          ...fields,
          type: 'artifact.created',
          artifact: { id: id(5), runId: run, nodeId: node, kind: 'log', name: 'a', path, createdAt: phase.ts },
        }),
      ),
    );
  const refs = (path: string) => {
    const event = created(path);
    return event.ok ? runJournalSchema.snapshotRefs(event.value) : event.error;
  };

  it('are the artifact that the snapshot store keeps', () => {
    expect(refs(snapshotPath(hex))).toEqual([`sha256:${hex}`]);
    expect(snapshotPath(digestHex(`sha256:${hex}` as Digest))).toBe(`snapshots/${hex}.json`);
  });

  it('are none where the artifact is kept elsewhere, or the event creates none', () => {
    expect([refs('notes.md'), refs(`elsewhere/snapshots/${hex}.json`), refs('snapshots/short.json')]).toEqual([
      [],
      [],
      [],
    ]);
    const event = runJournalSchema.decode(journaled(phase));
    expect(event.ok && runJournalSchema.snapshotRefs(event.value)).toEqual([]);
  });
});
