import { type ArtifactId, type Digest, deriveId, type RunId, type Timestamp } from '@signalbox/model';
import type { ScriptedHost } from './scripted-host.ts';

export const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}.000Z` as Timestamp;
let made = 0;

export interface Kept {
  readonly kind?: 'markdown' | 'table' | 'image' | 'progress' | 'other';
  readonly name?: string;
  readonly key?: string;
  readonly mimeType?: string;
}

/** Keeps an artifact of a run: text in its row, bytes in a blob. */
export async function keepArtifact(
  { store }: Pick<ScriptedHost, 'store'>,
  run: RunId,
  content: string | Uint8Array,
  kept: Kept = {},
): Promise<ArtifactId> {
  const id = deriveId<ArtifactId>('test', made++);
  const put = await store.put([Buffer.from(content)]);
  const digest = (put.ok ? put.value[0] : undefined) as Digest;
  const artifact = {
    id,
    node: 'build' as never,
    kind: 'markdown' as const,
    name: 'Notes',
    mimeType: 'text/markdown',
    ...kept,
    digest,
    bytes: Buffer.byteLength(content),
    ...(typeof content === 'string' ? { content } : {}),
    createdAt: at(made % 60),
  };
  const written = await store.commit({ at: at(0), artifacts: [artifact] }, { run, version: 'any' });
  if (!written.ok) throw new Error(written.error.message);
  return id;
}
