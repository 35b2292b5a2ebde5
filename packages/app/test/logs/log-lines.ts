import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { RunId } from '@signalbox/model';
import { contentOf } from '../../src/packed-file.ts';

/** The numbers of the events in a log, in the order of its lines. */
export function seqsOf(data: string, run: RunId): readonly number[] {
  const folder = path.join(data, 'runs', run, 'logs');
  const packed = readdirSync(folder).flatMap(name => Number(/^stream\.(\d+)\.ndjson\.zst$/.exec(name)?.[1] ?? []));
  const files = [...packed.toSorted((a, b) => a - b).map(n => `stream.${n}.ndjson.zst`), 'stream.ndjson'];
  return files
    .filter(name => existsSync(path.join(folder, name)))
    .flatMap(name =>
      Buffer.from(contentOf(path.join(folder, name)))
        .toString()
        .split('\n'),
    )
    .filter(line => line !== '')
    .map(line => JSON.parse(line).seq as number);
}
