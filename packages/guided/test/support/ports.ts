import { createHmac } from 'node:crypto';
import { hostDisk, nodeHasher, placeFile, verifyJournal } from '@signalbox/journal';
import { Bug, createSecretFilter, digestHex, err, failure, ok } from '@signalbox/model';
import { sessionEventSchema } from '@signalbox/workflow';
import type { GuidedPorts } from '../../src/index.ts';

/** Blobs in files, and no secrets but those that any process recognises by their shape. */
export const ports: GuidedPorts = {
  openBlobs({ disk, hasher, home, writer }) {
    const fileOf = (name: Parameters<typeof digestHex>[0]) => `${home}/blobs/${digestHex(name)}`;
    return {
      put(content) {
        const name = hasher(content);
        disk.makeDirectory(`${home}/blobs`);
        placeFile(disk, { path: fileOf(name), temporary: `${fileOf(name)}.${writer}.tmp` }, content);
        return ok(name);
      },
      get(name) {
        const bytes = disk.read(fileOf(name));
        if (typeof bytes === 'object') return ok(bytes);
        return err(
          failure('store/blob-missing', { message: `Blob ${name} is not in the store.`, suggestion: 'Put it there.' }),
        );
      },
    };
  },
  openSecrets: () => ({
    filter: createSecretFilter({ known: [], mac: text => createHmac('sha256', 'test').update(text).digest('hex') }),
  }),
  journalHealth(directory) {
    const report = verifyJournal({ disk: hostDisk, hasher: nodeHasher, schema: sessionEventSchema, directory });
    return report?.health ?? 'corrupt_head';
  },
  contractEvent() {
    throw new Bug('no test here asks for events');
  },
};
