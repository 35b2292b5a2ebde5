import { type Digest, portableHasher, utf8Bytes } from '@signalbox/model';
import { memoryRuns } from '@signalbox/runs';
import { expect, it } from 'vitest';
import { describeRunStore } from './contract/run-store.ts';

describeRunStore('memory', () => memoryRuns(portableHasher));

it('[L27] memory keeps blobs by their digest', async () => {
  const blobs = memoryRuns(portableHasher);
  const content = utf8Bytes('a prompt');
  const name = portableHasher(content);
  expect(await blobs.put([content, content])).toEqual({ ok: true, value: [name, name] });
  expect(await blobs.get(name)).toEqual({ ok: true, value: content });
  expect(await blobs.get(`sha256:${'1'.repeat(64)}` as Digest)).toMatchObject({
    error: { code: 'store/blob-missing' },
  });
});
