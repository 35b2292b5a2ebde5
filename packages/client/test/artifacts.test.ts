import { thisMachine } from '@signalbox/app/host';
import { createClient } from '@signalbox/client';
import { type ArtifactId, deriveId, portableHasher, type Timestamp } from '@signalbox/model';
import { startServer } from '@signalbox/server';
import { expect, it, onTestFinished } from 'vitest';
import { scriptedHost } from '../../server/test/scripted-host.ts';

it('[C1] [C28] lists artifacts, and gets them, their bytes and the changes of a run', async () => {
  const host = scriptedHost();
  const started = await startServer({ host, token: 'secret', port: 0, timers: thisMachine().timers });
  if (!started.ok) throw new Error(started.error.message);
  onTestFinished(() => started.value.close());
  const client = createClient({ url: started.value.url, token: 'secret' });
  const { id: run } = await host.begin('release');
  const bytes = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0xff);
  await host.store.put([bytes]);
  const id = deriveId<ArtifactId>('picture');
  const at = '2026-01-01T00:00:00.000Z' as Timestamp;
  const artifact = {
    ...{ id, kind: 'image' as const, name: 'Dot', mimeType: 'image/png', createdAt: at, key: 'dot', alt: 'a dot' },
    ...{ digest: portableHasher(bytes), bytes: bytes.length },
  };
  await host.store.commit({ at, artifacts: [artifact] }, { run, version: 'any' });
  const { digest: _, ...known } = artifact;
  const shown = { ...known, run, version: 1, ref: `artifact://${id}` };
  expect(await client.artifacts({ run, kind: 'image', key: 'dot', versions: 'all', limit: 5 })).toMatchObject({
    ok: true,
    value: { artifacts: [shown] },
  });
  expect(await client.artifacts({ run, turns: 'with', kind: 'image' })).toMatchObject({
    value: { artifacts: [shown] },
  });
  expect(await client.artifacts({ run, turns: 'only', node: 'nobody' })).toMatchObject({ value: { artifacts: [] } });
  expect(await client.artifact(id)).toMatchObject({ ok: true, value: shown });
  expect(await client.artifactContent(id)).toEqual({ ok: true, value: bytes });
  const unknown = deriveId<ArtifactId>('none');
  expect(await client.artifactContent(unknown)).toMatchObject({ error: { code: 'artifact/unknown' } });
  expect(await client.diff(run, 0)).toMatchObject({ error: { code: 'workspace/none' } });
  const nobody = createClient({ url: 'http://127.0.0.1:1', token: 'x' });
  expect(await nobody.artifactContent(id)).toMatchObject({ error: { code: 'request/unreachable' } });
});
