import { type ArtifactId, portableHasher, type RunId } from '@signalbox/model';
import { type ArtifactDraft, type ArtifactRecord, publishArtifact } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import { at, created, freshId, key, newRun, startRun } from '../builders.ts';
import type { RunStore } from './run-store.ts';
import { artifactOf } from './sample-artifact.ts';

const keyed = (name: string, more: Partial<ArtifactRecord> = {}): ArtifactRecord => ({
  ...artifactOf(freshId<ArtifactId>()),
  key: name,
  ...more,
});

export function describeArtifacts(name: string, open: () => RunStore): void {
  describe(`artifacts in ${name}`, () => {
    it('[L51] with one key are versions of it, counted by the commit, whoever writes them', async () => {
      const store = open();
      const [one, other] = [await startRun(store), await startRun(store)];
      await one.write({ at: at(), artifacts: [keyed('build'), keyed('build'), keyed('test')] });
      const any = { run: one.run, version: 'any' } as const;
      const writes = Array.from({ length: 5 }, () => store.commit({ at: at(), artifacts: [keyed('build')] }, any));
      expect((await Promise.all(writes)).every(({ ok }) => ok)).toBe(true);
      await other.write({ at: at(), artifacts: [keyed('build')] });
      const versions = async (run: RunId, of: string) =>
        (await store.artifacts(run, { key: of })).map(({ version }) => version);
      expect([await versions(one.run, 'build'), await versions(one.run, 'test')]).toEqual([[1, 2, 3, 4, 5, 6, 7], [1]]);
      expect(await versions(other.run, 'build')).toEqual([1]);
    });

    it('[L51] keep a version that their writer gives, once', async () => {
      const store = open();
      const writer = await startRun(store);
      await writer.write({ at: at(), artifacts: [keyed('build', { version: 7 }), keyed('build')] });
      expect((await store.artifacts(writer.run)).map(({ version }) => version)).toEqual([7, 8]);
      const error = await writer.refused({ at: at(), artifacts: [keyed('build', { version: 7 })] });
      expect(error.code).toBe('run/writes-refused');
    });

    it('[L52] are found by their id, with the run that they are of', async () => {
      const store = open();
      const writer = await startRun(store);
      const artifact = artifactOf(freshId<ArtifactId>());
      await writer.write({ at: at(), artifacts: [artifact] });
      expect(await store.artifact(artifact.id)).toEqual({ run: writer.run, artifact });
      expect(await store.artifact(freshId<ArtifactId>())).toBe(undefined);
    });

    it('[L52] are listed over all runs without contents, newest first, in pages, of a key only the last version', async () => {
      const store = open();
      const [one, other] = [await startRun(store), await startRun(store)];
      const later = (seconds: number) => ({ createdAt: at(seconds) });
      const made = [
        keyed('build', { ...later(1), alt: 'a picture' }),
        keyed('build', { ...later(2), kind: 'progress' }),
        { ...artifactOf(freshId<ArtifactId>()), ...later(3) },
      ];
      await one.write({ at: at(), artifacts: made });
      const elsewhere = keyed('build', later(4));
      await other.write({ at: at(), artifacts: [elsewhere] });
      const [first, second, third] = made.map(({ id }) => id);
      const found = async (filter: Parameters<typeof store.artifactList>[0]) =>
        (await store.artifactList(filter)).items.map(({ artifact }) => artifact.id);
      expect(await found({})).toEqual([elsewhere.id, third, second]);
      expect(await found({ versions: 'all' })).toEqual([elsewhere.id, third, second, first]);
      expect(await found({ run: one.run, key: 'build' })).toEqual([second]);
      expect(await found({ run: one.run, key: 'build', versions: 'all' })).toEqual([second, first]);
      expect(await found({ kind: 'progress' })).toEqual([second]);
      const page = await store.artifactList({ versions: 'all', limit: 3 });
      expect([page.items.length, page.next]).toEqual([3, second]);
      expect(await found({ versions: 'all', limit: 3, after: second as ArtifactId })).toEqual([first]);
      const { content: _, ...shown } = made[0] as ArtifactRecord;
      expect((await store.artifactList({ versions: 'all' })).items.at(-1)).toEqual({
        run: one.run,
        artifact: { ...shown, version: 1 },
      });
    });

    it('[L53] that are published beside the driver are there once, with one event, however often', async () => {
      const store = open();
      const { run } = await startRun(store);
      const before = (await store.run(run))?.version;
      const draft: ArtifactDraft = { kind: 'markdown', name: 'Notes', mimeType: 'text/markdown', content: '# Notes' };
      const ports = {
        commit: store,
        reader: store,
        blobs: { put: async () => ({ ok: true, value: [] }) as const },
        clock: { now: () => Date.parse(at()) },
        hasher: portableHasher,
      };
      const id = freshId<ArtifactId>();
      const publish = () => publishArtifact(ports, id, draft, { run, node: key('a') });
      const answers = await Promise.all([publish(), publish(), publish()]);
      expect([...answers, await publish()]).toEqual(Array(4).fill({ ok: true, value: id }));
      expect((await store.artifacts(run)).map(one => one.id)).toEqual([id]);
      const events = (await store.events(run, 0, 100)).map(({ event }) => event.type);
      expect(events.filter(type => type === 'artifact.created')).toHaveLength(1);
      expect((await store.run(run))?.version).toBe(before);
      const nowhere = await publishArtifact(ports, freshId(), draft, { run: freshId<RunId>(), node: key('a') });
      expect(nowhere).toMatchObject({ ok: false, error: { code: 'run/unknown' } });
    });

    it('[L54] a run keeps where its own files are, and each frame the snapshot of them', async () => {
      const store = open();
      const workspace = { vcs: 'git', base: '/srv/repo', path: '/srv/work/1', commit: 'abc' } as const;
      const run = freshId<RunId>();
      const written = newRun({ workspace, workingDirectory: '/srv/work/1/sub' });
      await store.commit(created(written), { run, epoch: 0, version: 0 });
      expect(await store.run(run)).toMatchObject({ workspace });
      const change = { kind: 'set', value: 'sha256:1' } as const;
      const intervals = [{ space: 'workspace', key: 'files', fromFrame: 0, change } as const];
      await store.commit({ at: at(), intervals }, { run, epoch: 0, version: 1 });
      expect(await store.valueAt(run, 'workspace', 'files', 5)).toBe('sha256:1');
    });
  });
}
