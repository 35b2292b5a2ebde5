import * as fs from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryDirectory } from '../../test/builders.ts';
import { type HostFiles, nodeHostFiles } from '../filesystem/host-files.ts';
import { openHostCheckpointLog } from './checkpoint-log.ts';

let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => directory.remove());

it('[S231] a line of which a full disk took a part is taken back: the next one is whole', async () => {
  let isFull = false;
  const files: HostFiles = {
    ...nodeHostFiles,
    append(path, mode) {
      const writer = nodeHostFiles.append(path, mode);
      return {
        ...writer,
        write(chunk) {
          writer.write(isFull ? chunk.subarray(0, 3) : chunk);
          if (isFull)
            throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', path });
        },
      };
    },
  };
  const file = `${directory.path}/log.jsonl`;
  const log = openHostCheckpointLog(file, files);
  for (const [line, full] of [
    ['{"first":0}', true],
    ['{"second":1}', false],
    ['{"third":2}', true],
    ['{"fourth":3}', false],
  ] as const) {
    isFull = full;
    const written = log.append(line, { durable: true });
    await (full ? expect(written).rejects.toThrow('ENOSPC') : written);
  }
  expect(fs.readFileSync(file, 'utf8')).toBe('{"second":1}\n{"fourth":3}\n');
  expect(await openHostCheckpointLog(file).load()).toEqual(['{"second":1}', '{"fourth":3}']);
});
