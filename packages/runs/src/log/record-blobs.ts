import type { Digest } from '@signalbox/model';
import type { OpenRecord } from './open-record.ts';
import type { RecordBody } from './record.ts';
import { blobsOf } from './seal-record.ts';

/** Contents that a record requires: values too large for it, plan files, and artifacts. */
export function neededBlobs({ header, body }: Pick<OpenRecord, 'header' | 'body'>): readonly Digest[] {
  const { run, artifacts } = body;
  const source = run?.kind === 'create' ? run.run.source : run?.change.source;
  return [
    // The header names those of the committed body.
    ...(body.away?.by === undefined ? (header.blobs ?? []) : blobsOf(body)),
    ...(source?.files.map(({ digest }) => digest) ?? []),
    ...(artifacts?.flatMap(({ digest, content }) => (content === undefined ? [digest] : [])) ?? []),
  ];
}

/** Contents that a record's values mention: files of workspaces, and files that a render read. */
export function mentionedBlobs({ intervals, begins }: RecordBody): readonly Digest[] {
  const values = [
    ...(intervals?.map(({ space, key, change: value }) => ({ space, key, value })) ?? []),
    ...(begins?.intervals ?? []),
  ];
  return values.flatMap(({ space, key, value }) => {
    const isFile = space === 'workspace' || (space === 'read' && key.startsWith('file:'));
    return isFile ? digestsIn(JSON.stringify(value)) : [];
  });
}

export function digestsIn(text: string): readonly Digest[] {
  return text.match(/sha256:[0-9a-f]{64}/g)?.map(name => name as Digest) ?? [];
}
