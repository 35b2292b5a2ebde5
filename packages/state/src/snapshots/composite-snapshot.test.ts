import { describe, expect, it } from 'vitest';
import { createTestState, must, note, noted, plan } from '../../test/builders.ts';
import type { Filesystem } from '../filesystem/filesystem.ts';
import { createMemoryFilesystem } from '../filesystem/memory-filesystem.ts';
import { createSession } from '../session/session.ts';
import { snapshotFromJson, snapshotsEquivalent, snapshotToJson } from './composite-snapshot.ts';
import { createExecutionState } from './execution-state.ts';
import { createResources, defineResource, resource } from './resources.ts';

const more = defineResource<Filesystem>('More');

async function createFilledState() {
  const made = createTestState({ resources: [resource(more, createMemoryFilesystem())] });
  must(await made.files.write('dir/file.txt', 'content'));
  must(made.state.session.slice(plan).seed([{ objective: 'x', status: 'y' }]));
  must(made.state.session.dispatch(noted, 'a note'));
  return made;
}

describe('composite snapshots', () => {
  it('[S11] a snapshot holds session, resources and why it was taken', async () => {
    const { state } = await createFilledState();
    const metadata = { toolCallId: 'call_1', toolName: 'write', phase: 'pre_tool' as const };
    const snapshot = must(await state.snapshot({ tag: 'pre:call_1', metadata }));
    expect(snapshot.metadata).toEqual({ tag: 'pre:call_1', ...metadata });
    expect([...snapshot.resources.keys()]).toEqual(['Filesystem', 'More']);
    expect(snapshot.session.slices).toEqual({ Plan: [{ objective: 'x', status: 'y' }] });
  });

  it('[S11] a snapshot goes to JSON and back unchanged, and restores', async () => {
    const { state, files } = await createFilledState();
    const snapshot = must(await state.snapshot({ tag: 'kept', includeAll: true }));
    const text = await snapshotToJson(state.resources, snapshot);
    const back = must(await snapshotFromJson(state, text));
    expect(await snapshotToJson(state.resources, back)).toBe(text);
    expect(snapshotsEquivalent(state.resources, snapshot, back)).toBe(true);
    must(await files.remove('dir'));
    must(await state.restore(back));
    expect(Buffer.from(must(await files.read('dir/file.txt'))).toString()).toBe('content');
  });

  it('[S12] what is not JSON, or not a snapshot, is malformed', async () => {
    const { state } = await createFilledState();
    const whole = JSON.parse(await snapshotToJson(state.resources, must(await state.snapshot())));
    const { metadata: _, ...cut } = whole;
    const filesGone = { ...whole, resources: { ...whole.resources, Filesystem: { root: 'x' } } };
    for (const text of [
      '{',
      '[]',
      'null',
      JSON.stringify(cut),
      JSON.stringify({ ...whole, extra: 1 }),
      JSON.stringify(filesGone),
    ]) {
      expect(await snapshotFromJson(state, text)).toMatchObject({
        ok: false,
        error: { code: 'state/snapshot-malformed' },
      });
    }
  });

  it('[S12] another version is refused by its number', async () => {
    const { state } = await createFilledState();
    const refused = await snapshotFromJson(state, JSON.stringify({ version: 2, anything: true }));
    expect(refused).toMatchObject({ ok: false, error: { code: 'state/snapshot-version', details: { version: 2 } } });
  });

  it('[S12] a slice that the session does not know is refused by its name, and nothing changes', async () => {
    const { state, files } = await createFilledState();
    const snapshot = must(await state.snapshot());
    const bare = createExecutionState({
      session: createSession({ id: state.session.id, clock: state.clock }),
      resources: state.resources,
      clock: state.clock,
      ids: state.ids,
    });
    must(await files.write('dir/file.txt', 'later'));
    const refused = {
      ok: false,
      error: { code: 'state/slice-unregistered', message: expect.stringContaining('Plan') },
    };
    expect(await bare.restore(snapshot)).toMatchObject(refused);
    expect(await snapshotFromJson(bare, await snapshotToJson(state.resources, snapshot))).toMatchObject(refused);
    expect(Buffer.from(must(await files.read('dir/file.txt'))).toString()).toBe('later');
  });

  it('[S13] an item that its slice no longer takes, or a resource that is not there, is refused when the JSON is read', async () => {
    const { state } = await createFilledState();
    const whole = JSON.parse(await snapshotToJson(state.resources, must(await state.snapshot())));
    const oddItem = { ...whole, session: { ...whole.session, slices: { Plan: [{ objective: 1 }] } } };
    const oddPolicy = { ...whole, session: { ...whole.session, policies: { ...whole.session.policies, Plan: 'log' } } };
    const oddResource = { ...whole, resources: { ...whole.resources, Other: 1 } };
    for (const odd of [oddItem, oddPolicy, oddResource]) {
      expect(await snapshotFromJson(state, JSON.stringify(odd))).toMatchObject({
        ok: false,
        error: { code: 'state/snapshot-mismatch' },
      });
    }
  });

  it('[S13] a state with other resources does not fit, and nothing changes', async () => {
    const { state, files } = await createFilledState();
    const snapshot = must(await state.snapshot());
    must(await files.write('dir/file.txt', 'later'));
    const other = createTestState({ files });
    expect(await other.state.restore(snapshot)).toMatchObject({
      ok: false,
      error: { code: 'state/snapshot-mismatch' },
    });
    const otherSnapshot = must(await other.state.snapshot());
    expect(await state.restore(otherSnapshot)).toMatchObject({ ok: false, error: { code: 'state/snapshot-mismatch' } });
    expect(Buffer.from(must(await files.read('dir/file.txt'))).toString()).toBe('later');
  });

  it('[S16] resources are got by their key, with a fallback, and only snapshotable ones are captured', () => {
    const plain = defineResource<{ readonly size: number }>('Plain');
    const absent = defineResource<string>('Absent');
    const resources = createResources([resource(plain, { size: 1 }), resource(more, createMemoryFilesystem())]);
    expect(resources.get(plain)).toEqual({ size: 1 });
    expect([resources.get(absent), resources.get(absent, 'none')]).toEqual([undefined, 'none']);
    expect([...resources.snapshotable().keys()]).toEqual(['More']);
    expect(() => createResources([resource(absent, 'a'), resource(absent, 'b')])).toThrow('two resources');
  });

  it('[S7] a restore keeps logs unless it is told not to', async () => {
    const { state } = await createFilledState();
    const snapshot = must(await state.snapshot({ includeAll: true }));
    must(state.session.dispatch(noted, 'later'));
    must(await state.restore(snapshot));
    expect(state.session.slice(note).all()).toEqual(['a note', 'later']);
    must(await state.restore(snapshot, { preserveLogs: false }));
    expect(state.session.slice(note).all()).toEqual(['a note']);
  });
});
