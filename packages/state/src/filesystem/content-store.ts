import { createHash, hash } from 'node:crypto';
import { type Digest, type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';

export type ContentError = ErrorEnvelope<'state/content-missing' | 'state/content-corrupt'>;

/**
 * Contents by digest, each stored once.
 *
 * A content can be read as soon as `put` returns its digest; it survives a machine crash only after `sync`, which must be
 * awaited before the digest is written anywhere durable. Reads are checked against the digest.
 */
export interface ContentStore {
  put(content: Uint8Array): Promise<Digest>;
  /** For contents that do not fit in memory. */
  putStream(chunks: AsyncIterable<Uint8Array>): Promise<Digest>;
  sync(signal?: AbortSignal): Promise<void>;
  get(digest: Digest): Promise<Result<Uint8Array, ContentError>>;
  /** The content in chunks. Throws a `ContentFault` if it is missing or corrupt. */
  read(digest: Digest): AsyncIterable<Uint8Array>;
}

export class ContentFault extends Error {
  override readonly name = 'ContentFault';
  readonly error: ContentError;

  constructor(error: ContentError) {
    super(error.message);
    this.error = error;
  }
}

export function createMemoryContentStore(): ContentStore {
  const contents = new Map<Digest, Uint8Array>();
  const store: ContentStore = {
    async put(content) {
      const digest = digestOfBytes(content);
      if (!contents.has(digest)) contents.set(digest, Uint8Array.from(content));
      return digest;
    },
    async putStream(chunks) {
      const all: Uint8Array[] = [];
      for await (const chunk of chunks) all.push(Uint8Array.from(chunk));
      return store.put(Buffer.concat(all));
    },
    async sync() {},
    async get(digest) {
      const content = contents.get(digest);
      return content === undefined ? err(contentMissing(digest)) : ok(Uint8Array.from(content));
    },
    async *read(digest) {
      const content = await store.get(digest);
      if (!content.ok) throw new ContentFault(content.error);
      yield content.value;
    },
  };
  return store;
}

export function digestOfBytes(content: Uint8Array): Digest {
  return `sha256:${hash('sha256', content)}` as Digest;
}

export function streamDigest(): { update(chunk: Uint8Array): void; digest(): Digest } {
  const running = createHash('sha256');
  return { update: chunk => void running.update(chunk), digest: () => `sha256:${running.digest('hex')}` as Digest };
}

export function contentMissing(digest: Digest): ContentError {
  return failure('state/content-missing', {
    message: `the content ${digest} is not in the store`,
    suggestion: 'It was collected or deleted: restore from another checkpoint.',
    details: { digest },
  });
}

export function contentCorrupt(digest: Digest): ContentError {
  return failure('state/content-corrupt', {
    message: `the content ${digest} is corrupt`,
    suggestion: 'The disk or another program changed it: restore from another checkpoint.',
    details: { digest },
  });
}
